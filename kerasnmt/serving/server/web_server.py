"""Web server of a WSGI application."""

import logging
import socket
from typing import Any

import waitress

from kerasnmt.serving.server.server_options import MAX_BODY_BYTES

_SPARE_THREADS = 4  # for requests that are not predictions


def web_server(
    app: Any,
    host: str,
    port: int,
    *,
    max_requests: int = 64,
    max_body_bytes: int = MAX_BODY_BYTES,
    connections: int = 250,
    silence: int = 30,
) -> Any:
    """Return a server of waitress, which is already listening.

    One thread reads all requests, and hands complete requests to the threads that run the
    application. So a slow client holds a connection, but no thread.

    `run` serves until the process is interrupted. Then it waits up to five seconds for the answers
    under way. Another interruption ends the waiting.

    Args:
        app: The WSGI application.
        host: Address of the server.
        port: Port of the server, or 0 for a free port, which is the server's `effective_port`.
        max_requests: Number of predictions that run at a time. Four more threads answer the other
            requests.
        max_body_bytes: Maximum number of bytes of a request that the application takes. The server
            itself refuses requests of twice this size, so the application can refuse most others
            with a better message.
        connections: Number of open connections, at which the server stops accepting more; at least
            twice `max_requests`.
        silence: Number of seconds after which a silent client is disconnected. Twice this time may
            pass.

    Raises:
        ValueError: If the server cannot listen on this address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ValueError(
            f"Expected an address to listen on. Received: host {host}, port {port}: "
            f"{reason or error}. Choose another address; port 0 finds a free port."
        ) from error
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # waiting for a thread is no fault
    return waitress.create_server(
        app,
        sockets=[listening],
        threads=max_requests + _SPARE_THREADS,
        max_request_body_size=2 * max_body_bytes,
        connection_limit=max(connections, 2 * max_requests),
        channel_timeout=silence,
        cleanup_interval=silence,
        log_socket_errors=False,
        asyncore_use_poll=True,  # `select` fails at the file descriptor 1024
    )
