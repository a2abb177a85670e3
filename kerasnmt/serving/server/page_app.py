"""WSGI application of the page that shows what a model thinks."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from werkzeug.exceptions import BadRequest, HTTPException, MethodNotAllowed, NotFound
from werkzeug.wrappers import Request, Response

from kerasnmt.serving.server.answers import error_answer, json_answer, read_document, read_field
from kerasnmt.serving.server.page_models import PageModel
from kerasnmt.serving.server.server_options import MAX_BODY_BYTES, MAX_TEXT_BYTES
from kerasnmt.tasks.language_tags import check_languages
from kerasnmt.viz.page_files import page_file

# The page loads nothing from other places, and no other page may contain it.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FILES = {
    "/": ("page.html", "text/html"),
    "/page/page.css": ("page.css", "text/css"),
    "/page/drawing.js": ("drawing.js", "text/javascript"),
    "/page/backend.js": ("backend.js", "text/javascript"),
    "/page/live.js": ("live.js", "text/javascript"),
}

# Function from the fields of the model and the whole document to the answer.
_Question = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


class PageApp:
    """WSGI application of the page.

    - `GET /` returns the page, and `GET /page/FILE` its scripts and its style sheet.
    - `GET /page/model` returns what the page needs to know about the model.
    - `POST /page/search`, `/page/inspect` and `/page/words` answer the page's questions. Each takes
      a JSON object with the fields of the model; an image is in base64. `search` and `words` also
      take `prefix_ids`, `search` takes `terms`, and `inspect` takes `target_ids` or the text
      `target`; see `PageModel`.

    An error is `{"error": message}`.

    Args:
        model: The model behind the page.
        about: What the page says about the model: `name`, `description`, and `examples`, a list of
            requests.
        max_body_bytes: Maximum number of bytes of a request.
        max_text_bytes: Maximum number of UTF-8 bytes of each text.
    """

    def __init__(
        self,
        model: PageModel,
        about: Mapping[str, Any],
        *,
        max_body_bytes: int = MAX_BODY_BYTES,
        max_text_bytes: int = MAX_TEXT_BYTES,
    ) -> None:
        self._model, self._about = model, about
        self._max_body_bytes, self._max_text_bytes = max_body_bytes, max_text_bytes
        self._questions: dict[str, _Question] = {
            "/page/search": self._search,
            "/page/inspect": self._inspect,
            "/page/words": self._words,
        }

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one WSGI request."""
        request = Request(environ)
        try:
            response = self._answer(request)
        except HTTPException as error:
            response = error_answer(error)
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response(environ, start_response)

    def warm_up(self) -> None:
        """Answer the first example, so that the first question does not wait for the tracing."""
        for example in self._about["examples"][:1]:
            self._model.search(self._fields(example), [])

    def _answer(self, request: Request) -> Response:
        question = self._questions.get(request.path)
        methods = ["GET", "HEAD"] if question is None else ["POST"]
        if question is None and request.path not in (*_FILES, "/page/model"):
            raise NotFound(f"Expected a path of the page. Received: {request.path}")
        if request.method not in methods:
            raise MethodNotAllowed(methods, f"Expected {methods[0]}. Received: {request.method}")
        if question is not None:
            return json_answer(self._ask(question, request))
        if request.path == "/page/model":
            return json_answer({**self._about, **self._model.describe()})
        name, kind = _FILES[request.path]
        body = page_file(name)
        response = Response(body, content_type=f"{kind}; charset=utf-8")
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _ask(self, question: _Question, request: Request) -> dict[str, Any]:
        start = time.perf_counter()
        document = read_document(request, self._max_body_bytes)
        try:
            answer = question(self._fields(document), document)
        except ValueError as error:
            raise BadRequest(str(error)) from error
        return {**answer, "seconds": round(time.perf_counter() - start, 4)}

    def _fields(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of the model."""
        fields = {name: self._field(name, document.get(name)) for name in self._model.fields}
        check_languages([str(fields.get("text", ""))], self._model.description)
        return fields

    def _field(self, name: str, value: Any) -> str | bytes:
        return read_field(name, value, self._max_text_bytes)

    def _search(self, fields: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
        prefix_ids = _ids("prefix_ids", document.get("prefix_ids", []))
        if prefix_ids:
            self._need_inspection()
        if document.get("terms"):
            if not self._model.takes_terms:
                raise ValueError(
                    "Expected a model that translates by a search, for terms. Received: another "
                    "model, or an export without the signature 'with_terms'."
                )
            fields["terms"] = self._field("terms", document["terms"])
        return self._model.search(fields, prefix_ids)

    def _inspect(self, fields: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
        self._need_inspection()
        if "target" in document:
            target_ids = self._model.encode(fields, str(self._field("target", document["target"])))
        else:
            target_ids = _ids("target_ids", document.get("target_ids"))
        return self._model.inspect(fields, target_ids)

    def _words(self, fields: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
        self._need_inspection()
        return self._model.words(fields, _ids("prefix_ids", document.get("prefix_ids")))

    def _need_inspection(self) -> None:
        if not self._model.inspects:
            raise ValueError(
                "Expected a run or a preset that translates or captions, to see probabilities and "
                "other words. Received: a model that gives only its answers."
            )


def _ids(name: str, value: Any) -> list[int]:
    """Check a list of ids."""
    if not isinstance(value, list) or any(type(one) is not int for one in value):
        raise ValueError(
            f"Expected a list of integers in {name!r}. Received: {json.dumps(value):.60}"
        )
    return value
