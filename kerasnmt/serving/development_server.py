"""A server for trying a WSGI application."""

import io
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from werkzeug.serving import BaseWSGIServer, ThreadedWSGIServer, WSGIRequestHandler

_SILENCE = 30.0  # seconds until the first byte of a request, and of a write
_READING = 30.0  # seconds from the first byte of a request to its last
_ENDING = 8.0  # seconds that requests get to be answered when the server stops


class _Reader(io.RawIOBase):
    """Reads requests from a connection, each within a limited time.

    A limit for each single read would let a client send one byte now and then for ever.
    """

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self._deadline: float | None = None

    def begin_request(self) -> None:
        """Begin to count with the next byte."""
        self._deadline = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = _SILENCE if self._deadline is None else self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"The request was not read within {_READING:.0f} seconds.")
        self._connection.settimeout(left)
        try:
            count = self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(_SILENCE)
        if self._deadline is None:
            self._deadline = time.monotonic() + _READING
        return count


class _Handler(WSGIRequestHandler):
    timeout = _SILENCE

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._reader = _Reader(self.connection)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        self._reader.begin_request()
        super().handle_one_request()


class _Server(ThreadedWSGIServer):
    """Ends within a few seconds, whatever its clients do.

    Attributes:
        unanswered: the number of requests that were not answered when the server had ended.
    """

    daemon_threads = True  # so that `socketserver` does not wait for them without an end
    unanswered = 0

    def __init__(self, *arguments: Any) -> None:
        self._connections: dict[threading.Thread, socket.socket] = {}
        super().__init__(*arguments)

    def process_request(self, request: socket.socket, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._connections[thread] = request
        thread.start()

    def process_request_thread(self, request: socket.socket, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self._connections[threading.current_thread()]

    def server_close(self) -> None:
        """Take no more connections and requests, and wait for those that are being answered."""
        super().server_close()
        connections = dict(self._connections)
        for connection in connections.values():
            with suppress(OSError):  # the client has gone
                connection.shutdown(socket.SHUT_RD)
        end = time.monotonic() + _ENDING
        for thread in connections:
            thread.join(max(end - time.monotonic(), 0.0))
        self.unanswered = sum(thread.is_alive() for thread in connections)


def development_server(app: Any, host: str, port: int) -> BaseWSGIServer:
    """Makes a server that answers each connection on a thread of its own.

    Its `serve_forever` ends when `shutdown` is called from another thread or the process is
    interrupted. The requests that are being answered get 8 seconds more; those that are not read
    yet are dropped. A client that is silent for 30 seconds, or sends one request for longer, is cut
    off.

    Args:
        app: the WSGI application.
        host: the address to listen at.
        port: the port; 0 for any that is free, which is then the server's `port`.

    Returns:
        the server, which listens already. When it has ended, `unanswered` is the number of requests
        that took longer.

    Raises:
        ValueError: it cannot listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise ValueError(
            f"Expected an address to listen at. Received: host {host}, port {port}: "
            f"{getattr(error, 'strerror', None) or error}. Take another; port 0 finds a free one."
        ) from error
    with listening:  # Werkzeug takes a copy, where its own attempt would end the process
        return _Server(host, port, app, _Handler, False, None, listening.fileno())
