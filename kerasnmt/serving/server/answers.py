"""Bodies and fields of requests, and answers in JSON."""

import base64
import gzip
import io
import json
import zlib
from typing import Any

from werkzeug.exceptions import BadRequest, HTTPException, RequestEntityTooLarge
from werkzeug.wrappers import Request, Response

from kerasnmt.columns import without_surrogates
from kerasnmt.kinds import field_named


def read_document(request: Request, max_bytes: int) -> dict[str, Any]:
    """Read the JSON object in the body of a request, which gzip may have compressed.

    Args:
        request: The request.
        max_bytes: Maximum number of bytes.

    Raises:
        BadRequest: If the body is another document.
        RequestEntityTooLarge: If the body is longer, as it came or uncompressed.
    """
    try:
        document = json.loads(_read_body(request, max_bytes))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"JSON Parse error: {error}") from error
    if not isinstance(document, dict):
        raise BadRequest("Expected a JSON object")
    return document


def _read_body(request: Request, max_bytes: int) -> bytes:
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


def read_field(name: str, value: Any, max_text_bytes: int) -> str | bytes:
    """Read a field of a request in JSON: a text, or the content of a file in base64.

    Args:
        name: Name of the field.
        value: Value in JSON.
        max_text_bytes: Maximum number of UTF-8 bytes of a text.

    Raises:
        BadRequest: If the value is not a string, is too long or is not in base64.
    """
    if not isinstance(value, str):
        raise BadRequest(f"Expected a string in {name!r}. Received: {json.dumps(value):.60}")
    if (field := field_named(name)) and field.binary:
        try:
            return base64.b64decode(value, validate=True)
        except ValueError as error:
            raise BadRequest(f"Expected base64 in {name!r}. Received: {value:.60}") from error
    size = len(value.encode(errors="surrogatepass"))
    if size > max_text_bytes:
        raise BadRequest(
            f"Expected texts of at most {max_text_bytes} bytes. Received: {size} bytes in {name!r}"
        )
    return without_surrogates(value)


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
