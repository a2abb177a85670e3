"""Address and limits of a server, which the command line reads without the server."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

MAX_BODY_BYTES = 8 << 20
MAX_TEXT_BYTES = 64 << 10


@dataclass(frozen=True)
class ServerOptions:
    """Address and limits of a server.

    Attributes:
        host: Address to listen on.
        port: Port, or 0 for a free port.
        allow_host: Names by which clients may address the server; see `ServerApp`.
        max_requests: Maximum number of predictions under way.
        timeout: Maximum number of seconds of a prediction.
        max_body_bytes: Maximum number of bytes of a request.
        max_batch: Maximum number of texts in a request.
        max_text_bytes: Maximum number of bytes of a text.
        poll: Number of seconds between two searches for a new version.
        access_log: File for one line per request, or None.
    """

    host: str = "127.0.0.1"
    port: int = 8501
    allow_host: Sequence[str] = ()
    max_requests: int = 64
    timeout: float = 60.0
    max_body_bytes: int = MAX_BODY_BYTES
    max_batch: int = 1024
    max_text_bytes: int = MAX_TEXT_BYTES
    poll: float = 2.0
    access_log: TextIO | None = None
