import socket

import pytest

from kerasnmt.serving.server.allowed_hosts import AllowedHosts

LOOPBACK = [
    *("localhost", "LocalHost", "localhost.", "localhost:8501", "127.0.0.1", "127.0.0.1:80"),
    *("[::1]", "[::1]:8501", "localhost:"),
]
ADDRESSES = ["10.0.0.7", "192.168.1.2:8501", "[fe80::1]", "[2001:db8::7]:80"]
REFUSED = [
    *("evil.example", "evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example"),
    *("", ":8501", "[::1", "::1]", "localhost:x", "localhost,evil.example", "user@localhost"),
    *("evil.example/localhost", "[localhost", "local host"),
]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost", "127.0.0.2"])
def test_on_loopback(address):
    hosts = AllowedHosts(address)
    for host in LOOPBACK:
        assert host in hosts, host
    for host in [*REFUSED, *ADDRESSES, "[::]", "0.0.0.0"]:
        assert host not in hosts, host
    assert (f"[{address}]:1" if ":" in address else f"{address}:1") in hosts
    assert ("127.0.0.2" in hosts) == (address == "127.0.0.2")


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.7", "some.name"])
def test_on_other_addresses(address, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Workhorse")
    hosts = AllowedHosts(address)
    for host in [*LOOPBACK, *ADDRESSES, "workhorse", "workhorse:8501"]:
        assert host in hosts, host
    for host in REFUSED:
        assert host not in hosts, host
    assert ("some.name" in hosts) == (address == "some.name")


def test_names_that_are_given():
    hosts = AllowedHosts("127.0.0.1", ["Translate.Example", "other"])
    for host in ("translate.example", "translate.example:443", "OTHER", "localhost"):
        assert host in hosts, host
    for host in ("www.translate.example", "example", "10.0.0.7"):
        assert host not in hosts, host
