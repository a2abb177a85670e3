"""Names by which clients may address a server."""

import re
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

_HOST = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*)(:\d*)?")  # the port may be left out, or be empty


class AllowedHosts:
    """Values of the header `Host` that a server accepts.

    A web page can point its own name at this machine, and then read the answers of a server here
    (DNS rebinding). The browser sends this name as `Host`, so a server that refuses unknown names
    is safe. IP addresses are safe, because nobody can point them at another machine.

    The names `localhost`, `127.0.0.1`, `::1`, the address of the server and `names` are allowed.
    If the server listens on an address that is not loopback, all IP addresses and the name of this
    machine are allowed, too.

    Args:
        address: Address that the server listens on.
        names: Further names.
    """

    def __init__(self, address: str = "127.0.0.1", names: Iterable[str] = ()) -> None:
        self._names = {"localhost", "127.0.0.1", "::1", _plain(address), *map(_plain, names)}
        found = _address(address)
        self._any_address = not (found.is_loopback if found else _plain(address) == "localhost")
        if self._any_address:
            self._names.add(_plain(socket.gethostname()))

    def __contains__(self, host: str) -> bool:
        """Return whether a value of the header, with or without a port, is allowed."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = _plain(found[1].strip("[]"))
        return name in self._names or (self._any_address and _address(name) is not None)


def _plain(name: str) -> str:
    return name.lower().removesuffix(".")


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None
