"""REST API of TF Serving."""

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from werkzeug.exceptions import (
    BadRequest,
    HTTPException,
    InternalServerError,
    MethodNotAllowed,
    NotFound,
)
from werkzeug.wrappers import Request, Response

from kerasnmt.columns import as_string
from kerasnmt.kinds import field_named
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.protocol.rest_metadata import write_metadata
from kerasnmt.serving.runtimes.session import Session
from kerasnmt.serving.server.answers import error_answer, json_answer, read_document
from kerasnmt.serving.server.server_options import MAX_BODY_BYTES, MAX_TEXT_BYTES
from kerasnmt.serving.server.streams import event_stream
from kerasnmt.tasks.language_tags import check_languages

_PATH = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d+))?(?P<what>|:predict|:stream|/metadata)"
)


def route_of(path: str) -> str:
    """Return the name of the route of a path: predict, stream, metadata, status or other."""
    match = _PATH.fullmatch(path)
    return (match["what"].strip(":/") or "status") if match else "other"


class RestApp:
    """WSGI application with the routes of TF Serving's REST API, for one version of a model.

    These are the routes after `/v1/models/`, with NAME or NAME/versions/VERSION:

    - `POST NAME:predict` runs a signature with `instances` (row format) or `inputs`
      (column format).
    - `POST NAME:stream` answers one request in pieces; see `kerasnmt.serving.server.streams`. TF
      Serving has no such route.
    - `GET NAME` returns the state of the version.
    - `GET NAME/metadata` returns its signatures, and the tags that the model knows.

    Answers follow TF Serving's documentation. An error is `{"error": message}`, with the status 400
    (the request is wrong), 404 (there is no such model, version or path), 405 (the method is
    wrong), 413 (the body is too large) or 500 (the model failed). Labels, `classify`, `regress` and
    binary outputs are not supported. A text without the tag of a language, which a model needs
    whose tags are all languages, is a wrong request.

    Args:
        session: An open session. Several threads run it at the same time.
        name: Name of the model.
        version: Version of the model.
        description: Description of the model; see `kerasnmt.tasks.ServedModel`. None if it is
            unknown.
        max_body_bytes: Maximum number of bytes of a request.
        max_batch: Maximum number of texts in a request.
        max_text_bytes: Maximum number of UTF-8 bytes of each text. The model truncates long texts,
            but tokenizes them first, which takes about 200 bytes of memory for each byte of a word.
            Only the size of the request limits images.

    Attributes:
        session: The session.
        name: Name of the model.
        version: Version of the model.
        description: Description of the model, or an empty dict.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        version: int,
        *,
        description: Mapping[str, Any] | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
        max_batch: int = 1024,
        max_text_bytes: int = MAX_TEXT_BYTES,
    ) -> None:
        self.session = session
        self.name, self.version = name, version
        self.description = description or {}
        self._max_body_bytes, self._max_batch = max_body_bytes, max_batch
        self._max_text_bytes = max_text_bytes

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one WSGI request."""
        try:
            answer = self._answer(Request(environ))
            response = answer if isinstance(answer, Response) else json_answer(answer)
        except HTTPException as error:
            response = error_answer(error)
        return response(environ, start_response)

    def _answer(self, request: Request) -> dict[str, Any] | Response:
        path = _PATH.fullmatch(request.path)
        if path is None:
            raise NotFound(f"Expected /v1/models/{self.name}:predict. Received: {request.path}")
        method = "POST" if path["what"].startswith(":") else "GET"
        if request.method != method:
            raise MethodNotAllowed([method], f"Expected {method}. Received: {request.method}")
        name, version = path["name"], path["version"]
        if name != self.name or version not in (None, str(self.version)):
            servable = f"Latest({name})" if version is None else f"Specific({name}, {version})"
            raise NotFound(f"Servable not found for request: {servable}")
        if path["what"] == ":predict":
            return self._predict(request)
        if path["what"] == ":stream":
            document = read_document(request, self._max_body_bytes)
            return event_stream(self.session, document, self.description, self._max_text_bytes)
        if path["what"] == "/metadata":
            signatures = self.session.signatures
            return write_metadata(self.name, self.version, signatures, self.description)
        status = {"error_code": "OK", "error_message": ""}
        state = {"version": str(self.version), "state": "AVAILABLE", "status": status}
        return {"model_version_status": [state]}

    def _predict(self, request: Request) -> dict[str, Any]:
        document = read_document(request, self._max_body_bytes)
        name = document.get("signature_name") or "serving_default"
        if not isinstance(name, str) or name not in self.session.signatures:
            raise BadRequest(f'Serving signature name: "{name}" not found in signature def')
        signature = self.session.signatures[name]
        if ("instances" in document) == ("inputs" in document):
            raise BadRequest("Expected one of the keys 'instances' and 'inputs'")
        in_rows = "instances" in document
        columns = _of_rows(document["instances"], signature) if in_rows else document["inputs"]
        if not isinstance(columns, dict) or _is_binary(columns):
            columns = {_only_input(signature): columns}
        if missing := sorted(signature.inputs.keys() - columns.keys()):
            raise BadRequest(f"Expected the inputs {sorted(signature.inputs)}. Missing: {missing}")
        inputs = {key: _tensor(columns[key], key, info) for key, info in signature.inputs.items()}
        for key, array in inputs.items():
            if len(array) > self._max_batch:
                raise BadRequest(
                    f"Expected at most {self._max_batch} rows in a request. "
                    f"Received: {len(array)} of {key!r}"
                )
            if array.dtype == object and not ((field := field_named(key)) and field.binary):
                self._check_texts(key, array)
        if len({len(array) for array in inputs.values()}) > 1:
            raise BadRequest(
                "Expected as many rows of each input. Received: "
                f"{', '.join(f'{len(array)} of {key!r}' for key, array in inputs.items())}"
            )
        try:
            outputs = self.session.run(name, inputs)
        except RuntimeError as error:
            raise InternalServerError(str(error)) from error
        written: Any = {key: _written(array) for key, array in outputs.items()}
        if len(written) == 1:
            (written,) = written.values()
        elif in_rows:
            rows = zip(*written.values(), strict=True)
            written = [dict(zip(written, row, strict=True)) for row in rows]
        return {"predictions" if in_rows else "outputs": written}

    def _check_texts(self, key: str, texts: np.ndarray) -> None:
        for number, text in enumerate(texts.ravel()):
            if len(text) > self._max_text_bytes:
                raise BadRequest(
                    f"Expected texts of at most {self._max_text_bytes} bytes. "
                    f"Received: {len(text)} bytes in row {number} of {key!r}"
                )
        if key == "text":
            try:
                check_languages([*map(as_string, texts.ravel())], self.description)
            except ValueError as error:
                raise BadRequest(str(error)) from error


def _of_rows(rows: Any, signature: Signature) -> Any:
    """Turn rows with named inputs into columns. Rows of plain values do not change."""
    if not isinstance(rows, list) or not rows:
        raise BadRequest("Expected a list of at least one row in 'instances'")
    named = [isinstance(row, dict) and not _is_binary(row) for row in rows]
    if not any(named):
        return rows
    names = signature.inputs.keys()
    for number, row in enumerate(rows):
        if not named[number] or row.keys() != names:
            raise BadRequest(f"Expected an object with the keys {sorted(names)} in row {number}")
    return {name: [row[name] for row in rows] for name in names}


def _only_input(signature: Signature) -> str:
    if len(signature.inputs) != 1:
        raise BadRequest(f"Expected an object with the inputs {sorted(signature.inputs)}")
    return next(iter(signature.inputs))


def _tensor(value: Any, name: str, info: TensorInfo) -> np.ndarray:
    """Return an array with the dtype and shape of the signature."""
    try:
        if info.dtype == "string":
            array = np.array(_bytes(value), object)
        else:
            array = np.array(value, info.dtype)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError if nested too deeply
        raise BadRequest(f"Expected {info.dtype} for the input {name!r}") from error
    strings = info.dtype != "string" or all(isinstance(item, bytes) for item in array.ravel())
    shape = info.shape or array.shape
    fits = len(shape) == array.ndim and all(
        size in (-1, actual) for size, actual in zip(shape, array.shape, strict=True)
    )
    if not (strings and fits and array.ndim):
        raise BadRequest(f"Expected {info.dtype} of shape {info.shape} for the input {name!r}")
    return array


def _bytes(value: Any) -> Any:
    """Replace the strings of nested lists, which are plain or in base64, by bytes."""
    if isinstance(value, list):
        return [_bytes(item) for item in value]
    if _is_binary(value):
        return base64.b64decode(value["b64"], validate=True)
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"Expected a string. Received: {value!r}")


def _is_binary(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"b64"} and isinstance(value["b64"], str)


def _written(array: np.ndarray) -> list:
    """Return an array as nested lists for JSON."""
    if array.dtype == object:  # `surrogateescape` keeps bytes that are not UTF-8
        values = [text.decode("utf-8", "surrogateescape") for text in array.flat]
        return np.array(values, object).reshape(array.shape).tolist()
    if array.dtype == np.float32:  # write 0.2, not 0.20000000298
        array = array.astype(str).astype(float)
    return array.tolist()
