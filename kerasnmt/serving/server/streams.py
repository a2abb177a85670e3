"""Answers that grow word by word, as server-sent events."""

import json
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

from werkzeug.exceptions import BadRequest, InternalServerError
from werkzeug.wrappers import Response

from kerasnmt.serving.runtimes.session import Session
from kerasnmt.serving.server.answers import read_field
from kerasnmt.tasks.language_tags import check_languages
from kerasnmt.tasks.served_model import Progress

CONTENT_TYPE = "text/event-stream"


def event_stream(
    session: Session,
    document: Mapping[str, Any],
    description: Mapping[str, Any],
    max_text_bytes: int,
) -> Response:
    """Answer one request as a stream of server-sent events.

    Each event has a JSON object:

    - `data: {"piece": " words"}`: Text that follows the earlier pieces. No later event changes it.
    - `event: end`, `data: {"text": "…", "score": -0.5}`: The whole answer, which is all pieces
      together, and its score.
    - `event: error`, `data: {"error": "…"}`: The model failed, after the first piece or before it.

    With `"provisional": true` in the request, there is an event for each step of the search, with
    `provisional`, the text that follows the pieces in the best hypothesis so far, which may change.

    An export with whole searches gives the whole answer as one piece.

    Args:
        session: Session that answers.
        document: JSON object with the fields of the model, such as `{"text": "two dogs run ."}`; a
            `prefix`, if the model takes one; and `provisional`.
        description: Description of the model.
        max_text_bytes: Maximum number of UTF-8 bytes of each text.

    Returns:
        The answer, whose iterator runs the search.

    Raises:
        BadRequest: If the request is wrong.
        InternalServerError: If the model fails at once.
    """
    fields = {name: value for name, value in document.items() if name != "provisional"}
    provisional = document.get("provisional", False)
    if not isinstance(provisional, bool):
        raise BadRequest(
            f"Expected provisional to be true or false. Received: {provisional!r:.80}."
        )
    request = {name: read_field(name, value, max_text_bytes) for name, value in fields.items()}
    try:
        check_languages([str(request.get("text", ""))], description)
        progress = session.progress(request)
    except ValueError as error:
        raise BadRequest(str(error)) from error
    except RuntimeError as error:
        raise InternalServerError(str(error)) from error
    events = _events(progress, provisional)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return Response(events, content_type=CONTENT_TYPE, headers=headers)


def _events(progress: Iterator[Progress], with_provisional: bool) -> Iterator[bytes]:
    text, shown = "", ""
    try:
        for piece, provisional, score in progress:
            text += piece
            if with_provisional and (piece or provisional != shown):
                yield event({"piece": piece, "provisional": provisional})
            elif piece:
                yield event({"piece": piece})
            shown = provisional
            if score is not None:
                yield event({"text": text, "score": float(f"{score:.7g}")}, "end")
    except (ValueError, RuntimeError) as error:
        yield event({"error": str(error)}, "error")
    except Exception:
        traceback.print_exc()
        yield event({"error": InternalServerError.description}, "error")


def event(document: Mapping[str, Any], name: str | None = None) -> bytes:
    """Return a server-sent event with a JSON object, which is one line."""
    data = json.dumps(document, ensure_ascii=False)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()
