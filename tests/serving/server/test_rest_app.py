import base64
import functools
import gzip
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from werkzeug.test import Client

from kerasnmt.serving import RestApp
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.protocol.rest_metadata import read_metadata
from kerasnmt.serving.server.server_options import MAX_BODY_BYTES

TEXTS = ["two dogs run .", "", "naïve 🙂", "a man reads ."]


@pytest.fixture(scope="module")
def client(rest_app):
    return Client(rest_app)


@pytest.fixture(scope="module")
def predict(client):
    def predict(request, path="/v1/models/tiny:predict"):
        body = request if isinstance(request, bytes) else json.dumps(request)
        response = client.post(path, data=body)
        assert response.content_type == "application/json"
        return response.status_code, response.get_json()

    return predict


def test_rows_and_columns(predict, expected):
    best = expected.best(TEXTS)
    assert len({text for text, _ in best}) == 4
    rows = [{"text": text} for text in TEXTS]
    for request in ({"instances": rows}, {"instances": TEXTS}):
        code, answer = predict(request)
        assert code == 200 and answer.keys() == {"predictions"}
        assert [row.keys() for row in answer["predictions"]] == [{"translation", "score"}] * 4
        assert [row["translation"] for row in answer["predictions"]] == [text for text, _ in best]
        scores = [row["score"] for row in answer["predictions"]]
        assert scores == pytest.approx([score for _, score in best], abs=1e-5)
    rows = answer["predictions"]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for inputs in ({"text": TEXTS}, TEXTS):
        assert predict({"inputs": inputs}) == (200, {"outputs": columns})


def test_other_signatures_and_versions(predict, expected):
    path = "/v1/models/tiny/versions/3:predict"
    code, answer = predict({"signature_name": "n_best", "inputs": TEXTS[:1]}, path)
    (ranked,) = expected.n_best(TEXTS[:1])
    assert code == 200 and answer["outputs"]["translations"] == [[text for text, _ in ranked]]
    assert answer["outputs"]["scores"] == [pytest.approx([score for _, score in ranked], abs=1e-5)]

    code, answer = predict({"signature_name": "attention", "instances": TEXTS[:2]}, path)
    one, none = answer["predictions"]
    (attended,) = expected.attention(TEXTS[:1])
    assert one["source_tokens"] == attended.source_tokens
    np.testing.assert_allclose(one["weights"], attended.weights, atol=1e-5)
    assert none["source_tokens"] == ["</s>", "", "", "", ""]


def test_base64(predict):
    encoded = [{"b64": base64.b64encode(text.encode()).decode()} for text in TEXTS]
    plain = predict({"instances": TEXTS})
    assert predict({"instances": encoded}) == plain
    assert predict({"instances": [{"text": text} for text in encoded]}) == plain
    assert predict({"inputs": {"text": encoded}}) == predict({"inputs": TEXTS})
    # Bytes that are not UTF-8 are a word that the model does not know.
    assert predict({"inputs": [{"b64": "/w=="}]}) == predict({"inputs": ["unknown"]})


def test_status(client):
    status = {"error_code": "OK", "error_message": ""}
    state = {"version": "3", "state": "AVAILABLE", "status": status}
    for path in ("/v1/models/tiny", "/v1/models/tiny/versions/3"):
        response = client.get(path)
        assert (response.status_code, response.get_json()) == (
            200,
            {"model_version_status": [state]},
        )


def test_metadata(client, served_session):
    for path in ("/v1/models/tiny/metadata", "/v1/models/tiny/versions/3/metadata"):
        answer = client.get(path).get_json()
        assert answer["model_spec"] == {"name": "tiny", "signature_name": "", "version": "3"}
        assert read_metadata(answer) == served_session.signatures
    written = answer["metadata"]["signature_def"]["signature_def"]["n_best"]
    assert written["method_name"] == "tensorflow/serving/predict"
    dims = [{"size": "-1", "name": ""}, {"size": "3", "name": ""}]
    assert written["outputs"]["scores"]["tensor_shape"] == {"dim": dims, "unknown_rank": False}
    assert written["outputs"]["scores"]["dtype"] == "DT_FLOAT"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/models/other", "Servable not found for request: Latest(other)"),
        ("/v1/models/tiny/versions/4", "Servable not found for request: Specific(tiny, 4)"),
        (
            "/v1/models/tiny/versions/4/metadata",
            "Servable not found for request: Specific(tiny, 4)",
        ),
        ("/", "Expected /v1/models/tiny:predict. Received: /"),
        ("/v1/models/tiny/labels/x", "Expected /v1/models/tiny:predict."),
        ("/v1/models/tiny/versions/x", "Expected /v1/models/tiny:predict."),
        ("/v1/models/tiny:classify", "Expected /v1/models/tiny:predict."),
    ],
)
def test_what_is_not_there(client, path, message):
    response = client.get(path)
    assert response.status_code == 404
    assert response.get_json()["error"].startswith(message)


def test_wrong_methods(client):
    for response, allowed in (
        (client.get("/v1/models/tiny:predict"), "POST"),
        (client.post("/v1/models/tiny"), "GET"),
        (client.delete("/v1/models/tiny/metadata"), "GET"),
    ):
        assert (response.status_code, response.headers["Allow"]) == (405, allowed)
        assert response.get_json()["error"].startswith(f"Expected {allowed}. Received:")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (b"", "JSON Parse error"),
        (b"{", "JSON Parse error"),
        (b'{"inputs": ["\xff"]}', "JSON Parse error"),
        (b"[" * 10_000, "JSON Parse error"),
        ([1], "Expected a JSON object"),
        ({}, "Expected one of the keys 'instances' and 'inputs'"),
        ({"inputs": ["a"], "instances": ["a"]}, "Expected one of the keys"),
        ({"signature_name": "x", "inputs": ["a"]}, 'Serving signature name: "x" not found'),
        ({"signature_name": ["x"], "inputs": ["a"]}, "Serving signature name:"),
        ({"signature_name": "\ud800", "inputs": ["a"]}, "Serving signature name:"),
        ({"inputs": functools.reduce(lambda x, _: [x], range(60), "a")}, "Expected string"),
        ({"instances": []}, "Expected a list of at least one row"),
        ({"instances": "a"}, "Expected a list of at least one row"),
        ({"instances": [{"texts": "a"}]}, "Expected an object with the keys ['text'] in row 0"),
        ({"instances": [{"text": "a"}, "a"]}, "Expected an object with the keys ['text'] in row 1"),
        ({"inputs": {"texts": ["a"]}}, "Expected the inputs ['text']. Missing: ['text']"),
        ({"inputs": "a"}, "Expected string of shape [-1] for the input 'text'"),
        ({"inputs": [["a"]]}, "Expected string of shape [-1] for the input 'text'"),
        ({"inputs": [["a"], []]}, "Expected string of shape [-1] for the input 'text'"),
        ({"inputs": [1]}, "Expected string for the input 'text'"),
        ({"inputs": [None]}, "Expected string for the input 'text'"),
        ({"inputs": ["\ud800"]}, "Expected string for the input 'text'"),
        ({"inputs": [{"b64": "="}]}, "Expected string for the input 'text'"),
        (
            {"inputs": ["a"] * 101},
            "Expected at most 100 rows in a request. Received: 101 ",
        ),
        (
            {"inputs": ["a", "ä" * 1_501]},
            "Expected texts of at most 3000 bytes. Received: 3002 bytes in row 1 of 'text'",
        ),
    ],
)
def test_wrong_requests(predict, request_, message):
    code, answer = predict(request_)
    assert code == 400 and answer.keys() == {"error"}
    assert answer["error"].startswith(message)


def test_limits_are_what_is_still_taken(predict):
    code, answer = predict({"inputs": [""] * 100})
    assert code == 200 and answer["outputs"]["translation"] == [""] * 100
    assert predict({"inputs": ["ä" * 1_500]})[0] == 200
    assert predict({"inputs": []}) == (200, {"outputs": {"translation": [], "score": []}})
    body = b'{"inputs": [""]}'
    assert predict(body + b" " * (20_000 - len(body)))[0] == 200
    code, answer = predict(body + b" " * (20_001 - len(body)))
    assert (code, answer) == (413, {"error": "Expected at most 20000 bytes in a request"})


class Toy:
    """Session with inputs and outputs that no export of kerasnmt has."""

    def __init__(self):
        info = {
            "a": TensorInfo("a:0", "float32", [-1, 2]),
            "b": TensorInfo("b:0", "int64", None),
        }
        half = Signature({"a": info["a"]}, {"y": info["a"]})
        self.signatures = {"serving_default": half, "pair": Signature(info, info)}

    def run(self, name, inputs):
        if name == "pair" and inputs["b"][0] < 0:
            raise RuntimeError("no negative numbers, please")
        if name == "pair":
            return inputs
        return {"y": inputs["a"] / np.float32(2)}


def test_numbers_and_one_output():
    client = Client(RestApp(Toy(), "toy", 1))

    def predict(request):
        response = client.post("/v1/models/toy:predict", json=request)
        return response.status_code, response.get_json()

    # A single output has no name. A float32 has as few digits as necessary.
    assert predict({"instances": [[0.4, 2]]}) == (200, {"predictions": [[0.2, 1.0]]})
    assert predict({"inputs": {"a": [[1, 2], [3, 4]]}}) == (200, {"outputs": [[0.5, 1], [1.5, 2]]})
    pair = [{"a": [1, 2], "b": 7}, {"a": [3, 4], "b": 8}]
    code, answer = predict({"signature_name": "pair", "instances": pair})
    assert (code, answer) == (200, {"predictions": pair})
    code, answer = predict({"signature_name": "pair", "instances": [1]})
    assert (code, answer["error"][:34]) == (400, "Expected an object with the inputs")
    code, answer = predict({"inputs": [[1, 2, 3]]})
    assert (code, answer["error"][:34]) == (400, "Expected float32 of shape [-1, 2] ")
    assert predict({"inputs": [["x", "y"]]})[0] == 400
    code, answer = predict({"signature_name": "pair", "inputs": {"a": [[1, 2]], "b": [-1]}})
    assert (code, answer) == (500, {"error": "no negative numbers, please"})
    infinite = client.post("/v1/models/toy:predict", data='{"inputs": [[Infinity, NaN]]}')
    (row,) = json.loads(infinite.data)["outputs"]
    assert row[0] == math.inf and math.isnan(row[1])


class Echo:
    """Session that returns its texts."""

    text = TensorInfo("text:0", "string", [-1])
    signatures = {"serving_default": Signature({"text": text}, {"text": text})}  # noqa: RUF012

    def run(self, _, inputs):
        return inputs


def test_bytes_that_are_not_utf8_go_out_as_they_are():
    client = Client(RestApp(Echo(), "echo", 1))
    response = client.post("/v1/models/echo:predict", json={"inputs": [{"b64": "/w=="}, "é"]})
    assert b'"\xff"' in response.data and '"é"'.encode() in response.data


@pytest.mark.parametrize("text", ["house", "<en>house", " <xyz> house"])
def test_a_text_without_a_language_of_the_model_is_refused(text):
    """A model whose tags are all languages needs one, unless it has a default."""
    tags = {"source_tags": ["<eng>", "<deu>"], "default_tags": ""}
    client = Client(RestApp(Echo(), "echo", 1, description=tags))
    assert client.get("/v1/models/echo/metadata").get_json()["metadata"]["kerasnmt"] == tags
    known = ["<deu>Haus", " <eng> house", "", " "]
    answer = client.post("/v1/models/echo:predict", json={"inputs": known})
    assert answer.get_json()["outputs"] == known
    expected = f"in front of each text: <deu>, <eng>. Received: {text!r}"
    rows, one = {"inputs": [*known, text]}, {"text": text}
    for route, request, place in (("predict", rows, " in row 4"), ("stream", one, "")):
        answer = client.post(f"/v1/models/echo:{route}", json=request)
        assert answer.status_code == 400
        assert answer.get_json()["error"].endswith(f"{expected}{place}.")
    for other in ({**tags, "default_tags": "<deu>"}, {"source_tags": ["<eng>", "<V>"]}):
        client = Client(RestApp(Echo(), "echo", 1, description=other))
        answer = client.post("/v1/models/echo:predict", json={"inputs": [text]})
        assert answer.get_json() == {"outputs": [text]}


def test_as_many_rows_of_each_input():
    info = TensorInfo("x:0", "string", [-1])
    session = SimpleNamespace(
        signatures={"serving_default": Signature({"text": info, "context": info}, {})}
    )
    client = Client(RestApp(session, "tiny", 1))
    body = json.dumps({"inputs": {"text": ["a", "b"], "context": ["c"]}})
    response = client.post("/v1/models/tiny:predict", data=body)
    assert response.status_code == 400
    assert response.get_json()["error"].endswith("Received: 2 of 'text', 1 of 'context'")


def test_a_body_in_gzip(client):
    plain = json.dumps({"instances": [{"text": "x"}]}).encode()
    route, headers = "/v1/models/tiny:predict", {"Content-Encoding": "gzip"}

    def answer(data, headers):
        return client.post(route, data=data, headers=headers)

    expected = answer(plain, {})
    assert answer(gzip.compress(plain), headers).get_json() == expected.get_json()
    done = answer(plain, headers)
    assert done.status_code == 400
    assert done.get_json()["error"].startswith("Expected a body in gzip, as Content-Encoding says.")
    bomb = gzip.compress(b" " * (MAX_BODY_BYTES + 1))
    assert answer(bomb, headers).status_code == 413
