"""Bodies of requests, and answers in JSON."""

import gzip
import io
import json
import zlib
from typing import Any

from werkzeug.exceptions import BadRequest, HTTPException, RequestEntityTooLarge
from werkzeug.wrappers import Request, Response


def read_body(request: Request, max_bytes: int) -> bytes:
    """Read the body of a request.

    Args:
        request: The request.
        max_bytes: Maximum number of bytes.

    Returns:
        The whole body, which gzip may have compressed.

    Raises:
        BadRequest: If the body is not in gzip, although `Content-Encoding` says so.
        RequestEntityTooLarge: If the body is longer, as it came or uncompressed.
    """
    # One more byte than allowed, because a chunked body is silently truncated at this length.
    request.max_content_length = max_bytes + 1
    too_large = f"Expected at most {max_bytes} bytes in a request"
    try:
        body = request.get_data()
    except RequestEntityTooLarge as error:
        raise RequestEntityTooLarge(too_large) from error
    if request.headers.get("Content-Encoding", "").lower() == "gzip":
        try:
            with gzip.open(io.BytesIO(body)) as file:
                body = file.read(max_bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadRequest(
                f"Expected a body in gzip, as Content-Encoding says. Received: {error}"
            ) from error
    if len(body) > max_bytes:
        raise RequestEntityTooLarge(too_large)
    return body


def json_answer(document: Any) -> Response:
    """Return an answer with a document in JSON."""
    try:
        body = json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair, which is quoted from the request
        body = json.dumps(document, indent=1).encode()
    return Response(body, content_type="application/json")


def error_answer(error: HTTPException) -> Response:
    """Return the answer `{"error": message}`, with the status and the headers of an error."""
    response = json_answer({"error": error.description})
    response.status_code = error.code or 500
    response.headers.extend(
        (name, value) for name, value in error.get_headers() if name != "Content-Type"
    )
    return response
