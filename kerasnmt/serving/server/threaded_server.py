"""Threaded server of a WSGI application."""

import io
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

_SILENCE = 30.0  # seconds to wait for a request to begin, and to send a response
_READING = 30.0  # seconds to read a whole request
_ENDING = 8.0  # seconds to finish open requests when the server stops
_LINGERING = 2.0  # seconds to wait until a client disconnects after its answer
_BACKLOG = 1024  # connections that wait to be accepted; the system may allow fewer


class _Reader(io.RawIOBase):
    """Reader of the request of a connection, with a time limit.

    The limit is for the whole request. With a limit for each read, a client could keep a connection
    forever by sending single bytes.
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
            raise TimeoutError(f"the request was not read within {_READING:.0f} seconds")
        self._connection.settimeout(left)
        try:
            count = self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(_SILENCE)
        if self._deadline is None:
            self._deadline = time.monotonic() + _READING
        return count


class _Handler(WSGIRequestHandler):
    """Handler that answers one request. Then Werkzeug closes the connection."""

    timeout = _SILENCE

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Reader(self.connection))

    def log_request(self, *_: Any) -> None:
        """Write nothing: the application writes the access log."""


class _Server(ThreadedWSGIServer):
    """Server that ends within a few seconds, whatever its clients do."""

    daemon_threads = True  # otherwise, `socketserver` could wait for threads forever

    def __init__(self, *arguments: Any) -> None:
        self._connections: dict[threading.Thread, socket.socket] = {}
        super().__init__(*arguments)

    @property
    def unanswered(self) -> int:
        """Number of requests in progress, also after the server has stopped."""
        return len(self._connections)

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._connections[thread] = request
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self._connections[threading.current_thread()]

    def shutdown_request(self, request: Any) -> None:
        """Close a connection after its client, or after two seconds.

        If the connection were closed while bytes of the request are on their way, the system would
        reset it, and the client could lose its answer.
        """
        end = time.monotonic() + _LINGERING
        with suppress(OSError):
            request.shutdown(socket.SHUT_WR)
            while (left := end - time.monotonic()) > 0:
                request.settimeout(left)
                if not request.recv(1 << 16):
                    break
        self.close_request(request)

    def server_close(self) -> None:
        """Stop accepting connections and requests, and wait for requests in progress."""
        super().server_close()
        connections = dict(self._connections)
        for connection in connections.values():
            with suppress(OSError):  # the client has disconnected
                connection.shutdown(socket.SHUT_RD)
        end = time.monotonic() + _ENDING
        for thread in connections:
            if thread.ident is None:  # a signal came before the thread started
                del self._connections[thread]
            else:
                thread.join(max(end - time.monotonic(), 0.0))


def threaded_server(app: Any, host: str, port: int) -> _Server:
    """Return a server that answers each connection in a separate thread.

    Its `serve_forever` ends when another thread calls `shutdown` or the process is interrupted.
    Then the server finishes open requests for at most eight seconds, and drops requests that it has
    not read completely. It disconnects a client that is silent for 30 seconds, or takes longer than
    30 seconds to send one request.

    Args:
        app: The WSGI application.
        host: Address of the server.
        port: Port of the server, or 0 for a free port, which is the server's `port`.

    Returns:
        The server, which is already listening. After its end, `unanswered` is the number of
        requests that it did not finish.

    Raises:
        ValueError: If the server cannot listen on this address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ValueError(
            f"Expected an address to listen on. Received: host {host}, port {port}: "
            f"{reason or error}. Choose another address; port 0 finds a free port."
        ) from error
    # Werkzeug copies this socket. If it opened one itself, a failure would end the process.
    with listening:
        return _Server(host, port, app, _Handler, False, None, listening.fileno())
