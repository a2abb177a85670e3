import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from werkzeug.wrappers import Response

from kerasnmt.cli.requests import checked_tags
from kerasnmt.serving import RestApp, RestClient, TransientError, Translator
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.runtimes.session import Session
from tests.serving.conftest import assert_all_signatures

TEXTS = ["two dogs run .", "a man reads .", "dog", "", "a dog runs . a man runs .", "   ", "é 🙂"]


class Faulty:
    """Application with the given failures, one per request, before it works."""

    def __init__(self, app, *faults):
        self.app, self.faults = app, list(faults)
        self.requests = 0
        self.go_on = threading.Event()

    def __call__(self, environ, start_response):
        self.requests += 1
        fault = self.faults.pop(0) if self.faults else None
        if fault == "silence":
            self.go_on.wait(60)
        if fault == "cut":
            raise ConnectionError  # the server closes the connection
        if fault == "cut in the answer":
            start_response("200 OK", [("Content-Length", "1000")])
            return [b'{"outputs": ']
        if isinstance(fault, int):
            return Response('{"error": "come back"}', fault)(environ, start_response)
        return self.app(environ, start_response)


class Answering:
    """Application that returns the metadata of the export, and one answer to all other requests."""

    def __init__(self, app, answer):
        self.app, self.answer = app, answer

    def __call__(self, environ, start_response):
        if environ["REQUEST_METHOD"] == "GET":
            return self.app(environ, start_response)
        answer = self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer)
        return Response(answer)(environ, start_response)


@pytest.fixture
def connect(start):
    clients = []

    def connect(app, model="tiny", version=None, **options):
        clients.append(RestClient(start(app), model, version, **{"wait": 0.0, **options}))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def test_served_is_what_the_export_translates(connect, rest_app, expected):
    translator = Translator(connect(rest_app))
    translations = expected.translate(TEXTS)
    assert len(set(translations)) > 3
    for batch_size in (1, 2, 64):
        assert translator.translate(TEXTS, batch_size=batch_size) == translations
    assert translator.translate([]) == []


def test_every_signature(connect, rest_app, expected):
    client = connect(rest_app, version=3)
    assert client.description == {"beam_size": 3}
    assert_all_signatures(Translator(client), expected, TEXTS)


def test_long_texts_are_cut_in_silence(connect, rest_app, recwarn):
    translator = Translator(connect(rest_app))
    long, cut = translator.translate(["dog " * 30, "dog " * 11])
    assert long == cut and not recwarn.list


waits = pytest.mark.thorough("waits three seconds; test_but_not_for_ever waits less")


@pytest.mark.parametrize(
    "faults",
    [
        [429, 502, 503, 504],
        ["cut", "cut", "cut"],
        ["cut in the answer"],
        pytest.param(["silence"], marks=waits),
        pytest.param([503, "cut", "silence", "cut in the answer"], marks=waits),
    ],
)
def test_what_may_pass_is_tried_again(connect, rest_app, expected, faults):
    app = Faulty(rest_app)
    translator = Translator(connect(app, timeout=3))
    translations = expected.translate(TEXTS)
    assert translator.translate(TEXTS) == translations  # a first answer takes longest
    before = app.requests
    app.faults += faults
    assert translator.translate(TEXTS) == translations
    assert app.requests == before + len(faults) + 1
    app.go_on.set()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (503, "503 SERVICE UNAVAILABLE: come back"),
        ("cut", "Remote end closed connection without response"),
        ("silence", "none within 0.2 s"),
    ],
)
def test_but_not_for_ever(start, rest_app, fault, reason):
    app = Faulty(rest_app, *[fault] * 9)
    url = start(app)
    for tries, written in ((3, "3 tries"), (1, "1 try")):
        app.requests = 0
        with pytest.raises(TransientError) as caught:
            RestClient(url, "tiny", timeout=0.2, tries=tries, wait=0.0)
        assert str(caught.value) == f"Expected an answer from {url}. Received: {reason}; {written}."
        assert app.requests == tries
    app.go_on.set()


def test_nobody_is_there(unused_port):
    url = f"http://127.0.0.1:{unused_port}"
    with pytest.raises(TransientError, match=r"Received: Connection refused; 2 tries\.$"):
        RestClient(url, "tiny", tries=2, wait=0.0)
    assert issubclass(TransientError, OSError)


def test_a_server_that_cannot_prove_who_it_is_is_not_asked_again(monkeypatch):
    def answer():
        with listening.accept()[0] as client:
            client.recv(1 << 16)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    monkeypatch.setattr(time, "sleep", None)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer).start()
        with pytest.raises(ValueError, match=r"to serve the model 'tiny'\. Received: .*SSL"):
            RestClient(f"https://127.0.0.1:{listening.getsockname()[1]}", "tiny", timeout=30)


def test_waits_double_and_vary(connect, rest_app, monkeypatch):
    app = Faulty(rest_app)
    client = connect(app, wait=0.5, tries=4)
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    monkeypatch.setattr(random, "uniform", lambda low, high: {(0.5, 1.5): 1.25}[low, high])
    app.faults += [503] * 4
    with pytest.raises(TransientError):
        client.signatures["serving_default"](text=["dog"])
    assert waits == [0.625, 1.25, 2.5]


@pytest.mark.parametrize("code", [301, 400, 401, 404, 413, 500, 501])
def test_a_refusal_is_not_tried_again(connect, rest_app, code):
    app = Faulty(rest_app)
    client = connect(app)
    app.faults += [code]
    with pytest.raises(ValueError, match=f"Received: {code} .*: come back$"):
        client.signatures["serving_default"](text=["dog"])
    assert app.requests == 2


@pytest.mark.parametrize(
    ("model", "version", "what", "said"),
    [
        ("other", None, "'other'", "Latest(other)"),
        ("tiny", 4, "'tiny', version 4", "Specific(tiny, 4)"),
        ("a/b c", None, "'a/b c'", None),
    ],
)
def test_no_such_model(start, rest_app, model, version, what, said):
    url = start(rest_app)
    with pytest.raises(ValueError, match="to serve the model") as caught:
        RestClient(url, model, version)
    message = str(caught.value)
    assert message.startswith(f"Expected {url} to serve the model {what}. Received: 404 NOT FOUND:")
    assert said is None or message.endswith(f"Servable not found for request: {said}")


def test_a_long_refusal_is_shortened(connect, rest_app):
    app = Faulty(rest_app)
    client = connect(app)
    app.app = Response("<p>\n" + "no " * 1000, 500)
    with pytest.raises(ValueError, match=r"500 INTERNAL SERVER ERROR: <p> no no .*…$") as caught:
        client.signatures["serving_default"](text=["dog"])
    assert len(str(caught.value)) < 450


GOOD = {"translation": ["a", "b"], "score": [-1.5, -2]}
TOKENS = {"source_tokens": [["a"], ["b"]], "target_tokens": [["c"], ["d"]]}


@pytest.mark.parametrize(
    ("signature", "answer", "message"),
    [
        ("serving_default", b"<html>", "an answer that is not JSON, 200 OK: <html>"),
        ("serving_default", [1], "an answer that is not of 'serving_default'"),
        ("serving_default", {"predictions": []}, "an answer that is not of 'serving_default'"),
        ("serving_default", {"outputs": ["a", "b"]}, "no output 'translation'"),
        ("serving_default", {"outputs": {"score": [1, 2]}}, "no output 'translation'"),
        ("serving_default", {"outputs": GOOD | {"score": [1]}}, "score has shape (1,)"),
        (
            "serving_default",
            {"outputs": GOOD | {"translation": ["a"]}},
            "translation has shape (1,)",
        ),
        ("serving_default", {"outputs": GOOD | {"score": ["1", "2"]}}, "an answer that is not of"),
        ("serving_default", {"outputs": GOOD | {"score": [1, None]}}, "an answer that is not of"),
        (
            "serving_default",
            {"outputs": GOOD | {"translation": [1, 2]}},
            "an answer that is not of",
        ),
        ("serving_default", {"outputs": GOOD | {"translation": ["\ud800", ""]}}, "an answer that"),
        ("n_best", {"outputs": {"translations": [["a"], []], "scores": [[1], []]}}, "an answer"),
        ("n_best", {"outputs": {"translations": [["a"]], "scores": [[1]]}}, "has shape (1, 1)"),
        ("attention", {"outputs": TOKENS}, "no output 'weights'"),
        (
            "attention",
            {"outputs": {**TOKENS, "weights": [[[1, 0]], [[1, 0]]]}},
            "weights has shape (2, 1, 2)",
        ),
    ],
)
def test_answers_that_are_not_what_was_asked(connect, rest_app, signature, answer, message):
    client = connect(Answering(rest_app, answer))
    with pytest.raises(ValueError, match="to serve the model 'tiny'") as caught:
        client.signatures[signature](text=["x", "y"])
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_what_an_answer_may_hold(connect, rest_app):
    outputs = {"translation": ["\udcff", "é"], "score": [1, -1e9], "more": [[]]}
    answer = json.dumps({"outputs": outputs}, ensure_ascii=False)
    client = connect(Answering(rest_app, answer.encode("utf-8", "surrogateescape")))
    answered = client.signatures["serving_default"](text=["x", "y"])
    assert answered.keys() == {"translation", "score"}
    assert answered["translation"].tolist() == [b"\xff", "é".encode()]
    assert answered["score"].dtype == np.float32 and answered["score"].tolist() == [1, -1e9]
    assert Translator(client).translate(["x", "y"]) == ["\ufffd", "é"]


def test_an_export_that_answers_questions(connect):
    names = ("story", "question", "answer")
    strings = {name: TensorInfo(f"{name}:0", "string", [-1]) for name in names}
    outputs = {"answer": strings.pop("answer"), "score": TensorInfo("score:0", "float32", [-1])}

    class Stories:
        signatures = {"serving_default": Signature(strings, outputs)}  # noqa: RUF012

        def run(self, signature, inputs):
            told = zip(inputs["story"], inputs["question"], strict=True)
            answers = [story.split(b"\n")[-1] + question for story, question in told]
            return {
                "answer": np.array(answers, object),
                "score": np.float32([len(answer) for answer in answers]),
            }

    translator = Translator(connect(RestApp(Stories(), "qa", 1), "qa"))
    stories = [["a", "b  c"], ["d"]]
    assert translator.answer(stories, ["x", "yé"]) == ["b cx", "dyé"]
    found = translator.ask({"story": ["a\nb", "d"], "question": ["x", "yé"]})
    assert found == [("bx", 2.0), ("dyé", 4.0)]
    with pytest.raises(ValueError, match=r"with story and question, .* Received: text\."):
        translator.translate(["two dogs"])


class Changed(Session):
    """Session with some signatures of another, and other answers of `serving_default`."""

    def __init__(self, session, names, changes):
        self.signatures = {name: session.signatures[name] for name in names}
        self.session, self.changes = session, changes

    def run(self, signature, inputs):
        outputs = self.session.run(signature, inputs)
        return {**outputs, **self.changes} if signature == "serving_default" else outputs


def test_an_export_with_one_translation_of_a_text(connect, served_session, expected):
    session = Changed(served_session, ["serving_default"], {})
    client = connect(RestApp(session, "tiny", 3))
    assert client.description == {}
    assert Translator(client).translate(TEXTS) == expected.translate(TEXTS)
    with pytest.raises(ValueError, match="one without the signature 'n_best'"):
        Translator(client).n_best(["dog"])


def test_a_server_says_its_tags(connect, served_session):
    tags = {"source_tags": ["<deu>", "<nld>"], "default_tags": "<nld>"}
    client = connect(RestApp(served_session, "tiny", 3, description={**tags, "max_length": 5}))
    assert client.description == {**tags, "beam_size": 3}
    assert checked_tags(["de"], Translator(client)) == ["<deu>"]
    with pytest.raises(ValueError, match=r"knows: <deu>, <nld>\. Received: fr, with"):
        checked_tags(["fr"], Translator(client))


def test_a_server_may_split_texts_that_attention_reads_as_a_whole(
    connect, served_session, expected
):
    parts = {"translation": np.array([b"a b"], object)}
    session = Changed(served_session, ["serving_default", "n_best", "attention"], parts)
    translator = Translator(connect(RestApp(session, "tiny", 3)))
    assert translator.translate("dog") == "a b"
    ((whole, _),) = translator.best_as_a_whole(["dog"])
    (attended,) = translator.attention(["dog"])
    assert whole == expected.translate("dog") == "".join(attended.target_tokens)


def test_what_is_no_export_of_kerasnmt(start, served_session):
    def signature(**changes):
        return served_session.signatures["n_best"]._replace(**changes)

    class Other:
        signatures = {"n_best": signature()}  # noqa: RUF012

    with pytest.raises(ValueError, match="export of kerasnmt: no signature 'serving_default'"):
        RestClient(start(RestApp(Other(), "tiny", 1)), "tiny")
    Other.signatures["serving_default"] = served_session.signatures["serving_default"]
    Other.signatures["n_best"] = signature(inputs=signature().outputs)
    with pytest.raises(ValueError, match=r"kerasnmt: n_best input: names \['scores', 'transla"):
        RestClient(start(RestApp(Other(), "tiny", 1)), "tiny")
    for answer in (b"[]", b'{"metadata": {}}', b'{"metadata": {"signature_def": 1}}'):
        with pytest.raises(ValueError, match="Received: an answer that is not its metadata"):
            RestClient(start(Response(answer)), "tiny")

    # The description may lack the beam size, and a model may have no attention.
    outputs = {name: info._replace(shape=None) for name, info in signature().outputs.items()}
    Other.signatures["n_best"] = signature(outputs=outputs)
    client = RestClient(start(RestApp(Other(), "tiny", 1)), "tiny")
    assert client.description == {}
    with pytest.raises(ValueError, match="one without the signature 'attention'"):
        Translator(client).attention(["dog"])


def test_options_are_in_range():
    for timeout in (0.0, -1.0, 86401.0, float("inf"), float("nan")):
        for options in ({"timeout": timeout}, {"tries": 0}, {"wait": -1.0}):
            with pytest.raises(ValueError, match="Expected 0 < timeout <= 86400, tries >= 1 and 0"):
                RestClient("http://localhost", "tiny", **options)


def test_without_tensorflow(start, rest_app, expected):
    script = (
        "import sys; sys.modules['tensorflow'] = sys.modules['keras'] = None\n"
        "from kerasnmt.serving import RestClient, Translator\n"
        "with RestClient(sys.argv[1], 'tiny') as client:\n"
        "    print(Translator(client).translate(['two dogs run .']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, start(rest_app)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == (f"{expected.translate(['two dogs run .'])}\n", "")
