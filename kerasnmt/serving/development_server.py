"""A server for trying a WSGI application."""

import socket
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

_SILENCE = 30.0  # seconds


class _Handler(WSGIRequestHandler):
    timeout = _SILENCE


def development_server(app: Any, host: str, port: int) -> BaseWSGIServer:
    """Makes a server that answers each connection on a thread of its own.

    Its `serve_forever` ends when `shutdown` is called from another thread or the process is
    interrupted, after the requests that are being answered. A client that is silent for 30 seconds
    is cut off.

    Args:
        app: the WSGI application.
        host: the address to listen at.
        port: the port; 0 for any that is free, which is then the server's `port`.

    Returns:
        the server, which listens already.

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
        server = make_server(
            host, port, app, threaded=True, request_handler=_Handler, fd=listening.fileno()
        )
    server.daemon_threads = False  # waits for them when it is closed
    return server
