"""Client of a model server over HTTP."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
import requests

from kerasnmt.serving.client.serving_client import ServingClient, TransientError
from kerasnmt.serving.protocol.meta_graph import Signature
from kerasnmt.serving.protocol.rest_metadata import read_metadata, read_tags

_BUSY = (429, 502, 503, 504)
_MOST_SAID = 300  # characters, because a server can quote the whole request


class RestClient(ServingClient):
    """Client of a model on TF Serving's REST API; see `ServingClient`.

    It needs no TensorFlow. The connection stays open between requests. Like `requests`, it uses the
    proxies of the environment. Redirects are not followed.

    ```python
    with RestClient("http://localhost:8501", "en_de") as client:
        Translator(client).translate(["Two dogs run."])
    ```

    Args:
        server: Address of the server, `http://host:port` or `https://…`, with the path before `/v1`
            if there is one.
        model: Name of the model on the server.
        version: Version of the model, or None for the newest.
        **options: Options of `ServingClient`.
    """

    def __init__(self, server: str, model: str, version: int | None = None, **options) -> None:
        self._session = requests.Session()
        self._url = f"{server.rstrip('/')}/v1/models/{quote(model, safe='')}"
        if version is not None:
            self._url += f"/versions/{version}"
        super().__init__(server, model, version, **options)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _declared(self) -> tuple[Mapping[str, Signature], dict[str, Any]]:
        answer = self._send("GET", "/metadata")
        try:
            return read_metadata(answer), read_tags(answer)
        except ValueError as error:
            raise self._refused("an answer that is not its metadata") from error

    def _predict(
        self, signature: str, inputs: Mapping[str, Sequence[str | bytes]]
    ) -> Mapping[str, np.ndarray]:
        columns = {name: [*map(_json, values)] for name, values in inputs.items()}
        request = {"signature_name": signature, "inputs": columns}
        answer = self._send("POST", ":predict", request)
        try:
            return _arrays(answer["outputs"], self.contract.outputs[signature])
        except (KeyError, TypeError, ValueError) as error:
            raise self._refused(f"an answer that is not of {signature!r}") from error

    def _send(self, method: str, path: str, request: Any = None) -> Any:
        try:
            response = self._session.request(
                method,
                self._url + path,
                json=request,
                timeout=self._timeout,
                allow_redirects=False,
            )
        except requests.exceptions.SSLError as error:
            raise self._refused(_reason(error)) from error
        except requests.Timeout as error:
            raise TransientError(f"none within {self._timeout:g} s") from error
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            raise TransientError(_reason(error)) from error
        except requests.RequestException as error:
            raise self._refused(str(error)) from error
        if response.status_code in _BUSY:
            raise TransientError(_said(response))
        if response.status_code != 200:
            raise self._refused(_said(response))
        try:
            # `surrogateescape` keeps bytes that are not UTF-8.
            return json.loads(response.content.decode("utf-8", "surrogateescape"))
        except ValueError as error:
            raise self._refused(f"an answer that is not JSON, {_said(response)}") from error


def _json(value: str | bytes) -> Any:
    """Return a value for the JSON of TF Serving, where bytes are in base64."""
    return value if isinstance(value, str) else {"b64": base64.b64encode(value).decode()}


def _arrays(
    values: Mapping[str, Any], outputs: Mapping[str, tuple[str, Sequence[str]]]
) -> dict[str, np.ndarray]:
    """Convert the outputs of a contract to arrays of its dtypes."""
    arrays: dict[str, np.ndarray] = {}
    sizes: dict[str, int] = {}
    for name, (dtype, axes) in outputs.items():
        if name not in values:
            continue
        array = _strings(values[name]) if dtype == "string" else _numbers(values[name], dtype)
        if not array.size:  # nested lists lose the axes after an empty one
            missing = [sizes.get(axis, 0) for axis in axes[array.ndim :]]
            array = array.reshape(*array.shape, *missing)
        sizes.update(zip(axes, array.shape, strict=False))
        arrays[name] = array
    return arrays


def _strings(value: Any) -> np.ndarray:
    array = np.array(value, object)
    for index, text in enumerate(array.flat):
        if not isinstance(text, str):
            raise ValueError(f"Expected strings. Received: {text!r}")
        array.flat[index] = text.encode("utf-8", "surrogateescape")
    return array


def _numbers(value: Any, dtype: str) -> np.ndarray:
    array = np.array(value)
    if array.dtype.kind not in "if":
        raise ValueError(f"Expected numbers. Received: dtype {array.dtype}")
    return array.astype(dtype)


def _said(response: requests.Response) -> str:
    """Return the message of an answer, in one short line."""
    try:
        text = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        text = response.text
    text = " ".join(str(text).split())
    text = text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID]}…"
    return f"{response.status_code} {response.reason}: {text}"


def _reason(error: BaseException) -> str:
    """Return the message of the first error in a chain, which is the shortest."""
    while error.__context__ is not None:
        error = error.__context__
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or str(error) or type(error).__name__
