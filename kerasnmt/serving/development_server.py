"""A server for trying a WSGI application."""

import io
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from werkzeug.serving import BaseWSGIServer, ThreadedWSGIServer, WSGIRequestHandler

_SILENCE = 30.0  # seconds to wait for a request to begin, and to send a response
_READING = 30.0  # seconds to read a whole request
_ENDING = 8.0  # seconds to finish open requests when the server stops


class _Reader(io.RawIOBase):
    """Reads the request of a connection within a limited time.

    With a limit per read, a client could hold a connection for ever by sending single bytes.
    """

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self._deadline: float | None = None

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
    """Answers one request, after which Werkzeug closes the connection."""

    timeout = _SILENCE

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Reader(self.connection))


class _Server(ThreadedWSGIServer):
    """Ends within a few seconds, whatever its clients do."""

    daemon_threads = True  # so that `socketserver` does not wait for them without an end

    def __init__(self, *arguments: Any) -> None:
        self._connections: dict[threading.Thread, socket.socket] = {}
        super().__init__(*arguments)

    @property
    def unanswered(self) -> int:
        """The number of requests that are being answered, or were left when the server stopped."""
        return len(self._connections)

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
            if thread.ident is None:  # a signal came before it was started
                del self._connections[thread]
            else:
                thread.join(max(end - time.monotonic(), 0.0))


def development_server(app: Any, host: str, port: int) -> BaseWSGIServer:
    """Makes a server that answers each connection on a thread of its own.

    Its `serve_forever` ends when `shutdown` is called from another thread or the process is
    interrupted. It then finishes open requests for at most eight seconds; requests that are not
    read yet are dropped. A client that is silent for 30 seconds, or sends one request for longer,
    is cut off.

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
