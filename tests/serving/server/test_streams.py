"""`POST /v1/models/NAME:stream`, server-sent events."""

import json
import re
import socket
import threading
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from werkzeug.test import Client

from kerasnmt.serving import RestApp
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.runtimes.session import Session, check_fields
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.serving.server.server_app import ServerApp
from kerasnmt.serving.server.task_session import TaskSession
from kerasnmt.tasks import Progress, TranslationTask, Translator

STREAM = "/v1/models/toy:stream"
METRICS = "/monitoring/prometheus/metrics"
TEXT = TensorInfo("text:0", "string", [-1])


class Spelling(Session):
    """Session that streams the characters of a text, each when the gate is open."""

    signatures = {"serving_default": Signature({"text": TEXT}, {"text": TEXT})}  # noqa: RUF012

    def __init__(self):
        self.gate, self.ended = threading.Event(), threading.Event()
        self.gate.set()
        self.steps = 0

    def progress(self, request):
        check_fields(request, ["text"])
        return self._spelled(request["text"])

    def _spelled(self, text):
        try:
            for place, character in enumerate(text):
                if character == "!":
                    raise {"bad!": RuntimeError("it is bad"), "worse!": OSError("secret")}[text]
                self.steps += 1
                yield Progress("", text[place:][::-1])
                yield Progress(character, text[place + 1 :])
                assert self.gate.wait(60)
            yield Progress("", "", -0.12345678)
        finally:
            self.ended.set()


@pytest.fixture
def session():
    session = Spelling()
    yield session
    session.gate.set()


@pytest.fixture
def make(session):
    def make(**options):
        return ServerApp(CurrentVersion(RestApp(session, "toy", 7, max_text_bytes=50)), **options)

    return make


def events(answer):
    """Return the name and the document of each event."""
    assert answer.content_type == "text/event-stream"
    found = re.findall(r"(?:event: (\w+)\n)?data: (.*)\n\n", answer.text)
    return [(name, json.loads(data)) for name, data in found]


def test_the_bytes_of_the_events(make):
    answer = Client(make()).post(STREAM, json={"text": "é\n"})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-cache"
    assert (
        answer.data
        == (
            'data: {"piece": "é"}\n\n'
            'data: {"piece": "\\n"}\n\n'
            'event: end\ndata: {"text": "é\\n", "score": -0.1234568}\n\n'
        ).encode()
    )
    answer = Client(make()).post(STREAM, json={"text": ""})
    assert events(answer) == [("end", {"text": "", "score": -0.1234568})]


def test_provisional_is_a_boolean(make):
    answer = Client(make()).post(STREAM, json={"text": "abc", "provisional": "false"})
    assert answer.status_code == 400
    assert "Expected provisional to be true or false. Received: 'false'" in answer.json["error"]


def test_provisional_words(make):
    answer = Client(make()).post(STREAM, json={"text": "abc", "provisional": True})
    assert events(answer) == [
        ("", {"piece": "", "provisional": "cba"}),
        ("", {"piece": "a", "provisional": "bc"}),
        ("", {"piece": "", "provisional": "cb"}),
        ("", {"piece": "b", "provisional": "c"}),
        ("", {"piece": "c", "provisional": ""}),
        ("end", {"text": "abc", "score": -0.1234568}),
    ]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"{", 400, "JSON Parse error"),
        (b"[]", 400, "Expected a JSON object"),
        (b"{}", 400, "Expected text. Missing: text"),
        (b'{"text": 7}', 400, "Expected a string in 'text'. Received: 7"),
        (b'{"text": "a", "prefix": "b"}', 400, "Expected text. Received: prefix"),
        (b'{"text": "' + b"a" * 51 + b'"}', 400, "Expected texts of at most 50 bytes."),
    ],
)
def test_wrong_requests(make, body, code, message):
    app = make(max_requests=1)
    for _ in range(2):  # no error keeps its slot
        answer = Client(app).post(STREAM, data=body)
        assert answer.status_code == code
        assert answer.get_json()["error"].startswith(message)


def test_other_methods_and_models(make):
    client = Client(make())
    assert client.get(STREAM).status_code == 405
    answer = client.post("/v1/models/other:stream", json={"text": "a"})
    assert (answer.status_code, answer.get_json().keys()) == (404, {"error"})


def test_a_failure_is_the_last_event(make, capsys):
    client = Client(make(max_requests=1))
    assert events(client.post(STREAM, json={"text": "bad!"}))[2:] == [
        ("", {"piece": "d"}),
        ("error", {"error": "it is bad"}),
    ]
    assert capsys.readouterr().err == ""
    *_, (name, document) = events(client.post(STREAM, json={"text": "worse!"}))
    assert name == "error"
    assert "secret" not in document["error"]
    assert "OSError: secret" in capsys.readouterr().err


def test_a_stream_that_takes_too_long_ends_with_an_error(make, session):
    answer = Client(make(timeout=0.0)).post(STREAM, json={"text": "ab"})
    assert events(answer) == [("error", {"error": "The prediction takes longer than 0 seconds."})]
    assert session.ended.is_set()


def test_a_stream_counts_as_under_way_until_its_end(make, session):
    app = make(max_requests=1)
    client = Client(app)
    session.gate.clear()
    stream = client.post(STREAM, json={"text": "ab"})
    pieces = stream.iter_encoded()
    assert next(pieces) == b'data: {"piece": "a"}\n\n'
    assert client.post(STREAM, json={"text": "ab"}).status_code == 503
    assert "predictions_under_way 1.0" in client.get(METRICS).text
    assert len(app.unanswered) == 1
    session.gate.set()
    assert len([*pieces]) == 2
    stream.close()
    stream.close()
    assert app.unanswered == set()
    assert "predictions_under_way 0.0" in client.get(METRICS).text
    for _ in range(2):
        with client.post(STREAM, json={"text": "ab"}) as again:
            assert again.status_code == 200
    counted = client.get(METRICS).text
    assert 'kerasnmt_requests_total{route="stream",status="200"} 3.0' in counted


def test_a_version_stays_open_until_its_streams_end(session):
    current = CurrentVersion(RestApp(session, "toy", 7))
    closed = threading.Event()
    session.close = closed.set
    stream = Client(current).post(STREAM, json={"text": "ab"})
    pieces = stream.iter_encoded()
    next(pieces)
    replacing = threading.Thread(target=current.replace, args=(RestApp(session, "toy", 8),))
    replacing.start()
    while current.version == 7:
        time.sleep(0.01)
    assert not closed.wait(0.05)
    assert len([*pieces]) == 2
    stream.close()
    assert closed.wait(10)
    replacing.join()


def asked(url, text):
    connection = HTTPConnection(url.hostname, url.port, timeout=60)
    connection.request("POST", STREAM, json.dumps({"text": text}))
    return connection


def test_each_event_arrives_before_the_next_step(make, session, start):
    url = urlsplit(start(make()))
    session.gate.clear()
    connection = asked(url, "ab")
    answer = connection.getresponse()
    assert answer.readline() == b'data: {"piece": "a"}\n'
    assert session.steps == 1
    session.gate.set()
    assert answer.read().decode().endswith('"score": -0.1234568}\n\n')
    connection.close()


def test_a_client_that_goes_away_ends_its_search(make, session, start):
    url = urlsplit(start(make(max_requests=1), max_requests=1))
    session.gate.clear()
    connection = asked(url, "a" * 40)
    assert connection.getresponse().readline() == b'data: {"piece": "a"}\n'
    connection.sock.shutdown(socket.SHUT_RDWR) if connection.sock else None
    connection.close()
    session._spelled = slowly(session)
    session.gate.set()
    assert session.ended.wait(30)
    deadline = time.monotonic() + 30
    while "predictions_under_way 0.0" not in fetched(url) and time.monotonic() < deadline:
        time.sleep(0.01)
    connection = asked(url, "ab")
    assert connection.getresponse().status == 200  # its slot is free, and the server lives
    connection.close()


def slowly(session):
    spelled = Spelling._spelled

    def slow(text):
        yield from spelled(session, text)

    return slow


def fetched(url):
    connection = HTTPConnection(url.hostname, url.port, timeout=60)
    connection.request("GET", METRICS)
    text = connection.getresponse().read().decode()
    connection.close()
    return text


@pytest.mark.graph
def test_a_model_in_this_process(word_model):
    task = TranslationTask(word_model, beam_size=2, max_length=12, min_length=6)
    client = Client(RestApp(TaskSession(task), "toy", 1))
    translator = Translator(task)
    for text in ("two dogs run .", "", "犬が 走る。"):
        *pieces, (name, end) = events(client.post(STREAM, json={"text": text}))
        ((best, score),) = translator.best([text])
        assert name == "end"
        assert end == {"text": best, "score": pytest.approx(score, abs=1e-5)}
        assert [one["piece"] for _, one in pieces] == [*translator.stream(text)]
    *_, (_, end) = events(client.post(STREAM, json={"text": "dog", "prefix": "ab"}))
    assert end["text"].startswith("ab")


def test_several_samples_are_refused(word_model):
    task = TranslationTask(word_model, samples=2, max_length=12)
    answer = Client(RestApp(TaskSession(task), "toy", 1)).post(STREAM, json={"text": "dog"})
    assert answer.status_code == 400
    assert answer.get_json()["error"].startswith("Expected samples=1 or a search")


def test_an_export_gives_one_piece(rest_app, expected):
    client = Client(rest_app)
    answer = client.post("/v1/models/tiny:stream", json={"text": "two dogs run ."})
    ((best, score),) = expected.best(["two dogs run ."])
    assert events(answer) == [
        ("", {"piece": best}),
        ("end", {"text": best, "score": pytest.approx(score, abs=1e-5)}),
    ]


def test_an_export_of_another_kind_is_refused(session):
    client = Client(RestApp(Other(), "toy", 1))
    answer = client.post(STREAM, json={"text": "a"})
    assert answer.status_code == 400
    assert answer.get_json()["error"].startswith("Expected a model whose 'serving_default' gives")


class Other(Session):
    signatures = {"serving_default": Signature({"text": TEXT}, {"text": TEXT})}  # noqa: RUF012
