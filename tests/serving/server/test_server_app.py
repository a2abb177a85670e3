import io
import json
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from kerasnmt.serving import RestApp
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.serving.server.server_app import ServerApp

METRICS = "/monitoring/prometheus/metrics"
PREDICT = "/v1/models/toy:predict"
TEXT = {"text": TensorInfo("text:0", "string", [-1])}


class Upper:
    """Session that returns texts in capitals, or twice, once its gate is open."""

    signatures = {name: Signature(TEXT, TEXT) for name in ("serving_default", "twice")}  # noqa: RUF012

    def __init__(self):
        self.begun, self.gate = threading.Event(), threading.Event()
        self.gate.set()

    def run(self, name, inputs):
        self.begun.set()
        assert self.gate.wait(60)
        if b"bad" in inputs["text"]:
            raise RuntimeError("it is bad")
        if b"worse" in inputs["text"]:
            raise OSError("a secret path")
        inputs["text"][:] = [text.upper() * (1 + (name == "twice")) for text in inputs["text"]]
        return inputs


@pytest.fixture
def session():
    session = Upper()
    yield session
    session.gate.set()


@pytest.fixture
def make(session):
    """Create an application of a server."""

    def make(name="toy", max_body_bytes=1000, **options):
        model = RestApp(session, name, 7, max_body_bytes=max_body_bytes)
        return ServerApp(CurrentVersion(model), **options)

    return make


def ask(client, text="a", path=PREDICT, **options):
    answer = client.post(path, json={"inputs": [text]}, **options)
    document = answer.get_json()
    return answer.status_code, document.get("outputs") or document["error"]


def metrics_of(client):
    answer = client.get(METRICS)
    assert answer.status_code == 200 and answer.content_type.startswith("text/plain; version=")
    return {
        (sample.name, *(label for _, label in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_routes(make):
    client = Client(make())
    health = client.get("/healthz")
    assert (health.status_code, health.text) == (200, "ok\n")
    assert health.content_type == "text/plain; charset=utf-8"
    assert client.head("/healthz").status_code == 200
    for path in ("/healthz", METRICS):
        answer = client.post(path)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
        assert answer.get_json() == {"error": "Expected GET. Received: POST"}
    assert ask(client, "a") == (200, ["A"])
    wrong = client.get(PREDICT)
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "POST")
    assert client.get("/v1/models/toy/versions/7/metadata").status_code == 200
    for path in ("/", "/page/x", "/healthz/", "/monitoring"):
        answer = client.get(path)
        assert answer.status_code == 404 and answer.get_json().keys() == {"error"}


def test_a_page_has_its_routes_and_the_limits(make, session):
    def page(environ, start_response):
        request = Request(environ)
        if request.path == "/page/fails":
            raise KeyError("page")
        if request.method == "POST":
            assert session.gate.wait(60)
        text = f"{request.method} {request.path} {request.query_string.decode()} {request.data}"
        return Response(text, headers={"X-Page": "yes"})(environ, start_response)

    client = Client(make(page=page, max_requests=1, timeout=0.05))
    answer = client.get("/?a=b")
    assert (answer.text, answer.headers["X-Page"]) == ("GET / a=b b''", "yes")
    assert client.get("/page/").text == "GET /page/  b''"
    assert client.post("/page/x", data=b"body").text == "POST /page/x  b'body'"
    assert client.get("/pages").status_code == 404
    assert client.get("/page").status_code == 404
    for method in (client.get, client.post):
        answer = method("/page/fails")
        assert answer.status_code == 500 and answer.get_json().keys() == {"error"}
    session.gate.clear()
    assert [client.post("/page/x").status_code for _ in range(2)] == [504, 503]
    assert client.get("/").status_code == 200
    counted = metrics_of(client)
    assert counted["kerasnmt_requests_total", "page", "200"] == 4
    assert counted["kerasnmt_requests_total", "other", "404"] == 2


def test_errors(make, capsys):
    client = Client(make(max_requests=1, max_body_bytes=100))
    for _ in range(3):  # no error keeps its slot
        assert ask(client, "bad") == (500, "it is bad")
        assert client.post(PREDICT, data=b"{").status_code == 400
        assert ask(client, "a" * 100) == (413, "Expected at most 100 bytes in a request")
        code, message = ask(client, "worse")
        assert code == 500 and "secret" not in message
        assert "OSError: a secret path" in capsys.readouterr().err
    assert ask(client) == (200, ["A"])


def test_what_is_too_much_is_refused(make, session, start):
    url = urlsplit(start(make(max_requests=2), max_requests=2))
    session.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        slow = [pool.submit(sent, url, b'{"inputs": ["a"]}') for _ in range(2)]
        while "under_way 2" not in fetched(url, METRICS):
            time.sleep(0.01)
        code, headers, answer = sent(url, b'{"inputs": ["a"]}')
        assert (code, headers["Retry-After"]) == (503, "1")
        error = "Expected at most 2 predictions under way. Try again later."
        assert json.loads(answer) == {"error": error}
        assert fetched(url, "/healthz") == "ok\n"
        assert '"AVAILABLE"' in fetched(url, "/v1/models/toy")
        text = fetched(url, METRICS)
        assert "kerasnmt_predictions_refused_total 1.0" in text
        session.gate.set()
        assert [one.result()[0] for one in slow] == [200, 200]
    assert sent(url, b'{"inputs": ["a"]}')[0] == 200
    assert "kerasnmt_predictions_under_way 0.0" in fetched(url, METRICS)


def sent(url, body, path=PREDICT, method="POST", **headers):
    """Send a request, and return the status, the headers and the body of the answer."""
    connection = HTTPConnection(url.hostname, url.port, timeout=120)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def fetched(url, path):
    return sent(url, None, path, "GET")[2]


def test_a_prediction_that_takes_too_long_keeps_its_slot(make, session):
    client = Client(make(max_requests=1, timeout=0.05))
    session.gate.clear()
    code, message = ask(client)
    assert code == 504 and message.startswith("The prediction takes longer than 0.05 seconds.")
    assert ask(client)[0] == 503
    assert client.get("/healthz").status_code == 200
    assert metrics_of(client)["kerasnmt_predictions_under_way",] == 1
    session.gate.set()
    while (answer := ask(client))[0] == 503:
        time.sleep(0.01)
    assert answer == (200, ["A"])


def test_metrics(make):
    name = 'a"b\\c\nd'
    client = Client(make(name))
    for _ in range(3):
        client.get("/v1/models/a%22b%5Cc%0Ad/metadata")
    client.post("/v1/models/other:predict", json={"inputs": ["a"]})
    client.get("/healthz")
    client.get("/what/ever")
    metrics_of(client)
    found = metrics_of(client)
    assert found["kerasnmt_model_version", name] == 7
    requests = {key[1:]: n for key, n in found.items() if key[0] == "kerasnmt_requests_total"}
    assert requests == {
        ("metadata", "200"): 3,
        ("predict", "404"): 1,
        ("healthz", "200"): 1,
        ("other", "404"): 1,
        ("metrics", "200"): 1,
    }
    assert found["kerasnmt_request_seconds_count", "metadata"] == 3
    assert found["kerasnmt_request_seconds_bucket", "60.0", "metadata"] == 3
    assert 0 < found["kerasnmt_request_seconds_sum", "metadata"] < 60
    assert found["kerasnmt_predictions_under_way",] == 0
    assert found["kerasnmt_predictions_refused_total",] == 0
    assert 0 < found["process_start_time_seconds",] < time.time()


ADDRESSES = ["127.0.0.1", "10.0.0.7:80", "[::1]:1", "[2001:db8::7]", "192.168.1.2:8501"]
REFUSED = [
    *("evil.example", "evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example"),
    *(":8501", "[::1", "::1]", "localhost:x", "localhost,evil.example", "user@localhost"),
    *("evil.example/localhost", "[localhost", "local host", "good.example.evil.example", "example"),
]


def test_names_that_no_host_has(make):
    with pytest.raises(ValueError, match=r"Expected names of hosts\. Received: a\.\.b: "):
        make(hosts=["a..b"])


def test_hosts(make):
    client = Client(make(hosts=["Good.Example", "::1", ".sub.example", "my_service"]))
    for host in ["", "localhost", "LocalHost:8501", "localhost.", "my_service:80", *ADDRESSES]:
        assert client.get("/healthz", headers={"Host": host}).status_code == 200, host
    for host in ("good.example", "GOOD.example:80", "sub.example", "a.b.sub.example:80"):
        assert ask(client, headers={"Host": host}) == (200, ["A"]), host
    for host in REFUSED:
        assert client.get("/healthz", headers={"Host": host}).status_code == 403, host
    for path in ("/healthz", METRICS, "/v1/models/toy", "/"):
        answer = client.get(path, headers={"Host": "evil.example:80"})
        assert (answer.status_code, answer.get_json()["error"]) == (
            403,
            "Expected a host that this server allows. Received: evil.example:80. Start the server "
            "with --allow-host and the name to allow it.",
        )
    assert ask(client, headers={"Host": "evil.example"})[0] == 403


def test_the_access_log(make):
    log = io.StringIO()
    client = Client(make(access_log=log))
    ask(client, environ_overrides={"REMOTE_ADDR": "127.0.0.1"})
    client.get("/a%0A%1B[31mb%7F\\ü?query=1", environ_overrides={"REMOTE_ADDR": "10.0.0.7"})
    lines = log.getvalue().split("\n")
    time_ = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"
    assert re.fullmatch(rf"{time_} 127.0.0.1 POST {PREDICT} 200 \d+\.\d ms", lines[0])
    path = re.escape(r"/a\n\x1b[31mb\x7f\\\xfc")
    assert re.fullmatch(rf"{time_} 10.0.0.7 GET {path} 404 \d+\.\d ms", lines[1])
    assert lines[2:] == [""]


def request_of(number):
    """Return the body of a request, and the status and the document of its answer.

    Without a body, a client leaves in the middle of its request.
    """
    text = f"t{number}"
    requests = [
        (f'{{"instances": ["{text}", "x"]}}', 200, {"predictions": [text.upper(), "X"]}),
        # Of a length that is not told beforehand.
        (iter([b'{"inputs":', f'["{text}"]}}'.encode()]), 200, {"outputs": [text.upper()]}),
        ('{"inputs": ["bad"]}', 500, {"error": "it is bad"}),
        (" " * (1001 + number), 413, {"error": "Expected at most 1000 bytes in a request"}),
        (None, None, None),
    ]
    return requests[number % 5]


def test_two_hundred_requests_at_once(make, session, start):
    """Every request gets the right answer, some after they were refused."""
    url = urlsplit(start(make(max_requests=16), max_requests=16, max_body_bytes=1000))
    session.gate.clear()
    together, refused, wrong = threading.Barrier(200), [], []

    def client(number):
        together.wait(60)
        if request_of(number)[0] is None:
            with socket.create_connection((url.hostname, url.port), 60) as leaving:
                head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
                leaving.sendall(head.encode() + b'{"inputs": ')
            return
        while True:
            body, *expected = request_of(number)
            status, headers, answer = sent(url, body)
            if status != 503:
                break
            assert headers["Retry-After"] == "1" and json.loads(answer).keys() == {"error"}
            refused.append(number)
            session.gate.set()
            time.sleep(0.05)
        if [status, json.loads(answer)] != expected:
            wrong.append((number, status, answer))

    with ThreadPoolExecutor(200) as pool:
        for done in [pool.submit(client, number) for number in range(200)]:
            done.result()
    assert refused and not wrong
    assert sent(url, b'{"inputs": ["a"]}')[0] == 200
    counted = fetched(url, METRICS)
    found = re.search(r"^kerasnmt_predictions_refused_total (.+)$", counted, re.MULTILINE)
    assert len(refused) <= float(found[1]) <= len(refused) + 40  # some clients have left
    assert 'kerasnmt_requests_total{route="predict",status="500"} 40.0' in counted


def test_every_name_is_checked(make):
    with pytest.raises(ValueError, match=r"Expected names of hosts\. Received: good, a\.\.b: "):
        make(hosts=["good", "a..b"])
