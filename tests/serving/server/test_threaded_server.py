import socket
import threading
import time
from contextlib import suppress

import pytest
import requests
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from kerasnmt.serving.server.threaded_server import threaded_server


def test_many_clients_at_a_time(start, rest_app, expected):
    texts = ["two dogs run .", "dog", "", "a man reads .", "cat"]
    url = start(rest_app) + "/v1/models/tiny:predict"
    found = {}

    def ask(place):
        answer = requests.post(url, json={"instances": [texts[place % 5]]}, timeout=60).json()
        found[place] = answer["predictions"][0]["translation"]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    translations = expected.translate(texts)
    assert found == {place: translations[place % 5] for place in range(20)}


def test_a_large_body_is_refused_with_an_answer(start, rest_app):
    url = start(rest_app) + "/v1/models/tiny:predict"
    parts = (b" " * 1000 for _ in range(30))  # of a length that is not told beforehand
    for body in (b" " * 20_001, b" " * 30_000, parts):
        answer = requests.post(url, data=body, timeout=60)
        assert answer.status_code == 413
        assert answer.json() == {"error": "Expected at most 20000 bytes in a request"}


def test_a_client_that_still_sends_gets_its_answer(start):
    """The application answers without reading the body, while the client sends it."""
    port = int(start(Response(b"no, thank you")).rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
        answer = client.makefile("rb")
        assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
        for _ in range(10):
            time.sleep(0.05)  # Werkzeug waits for 0.01 s
            client.sendall(b"x")
        assert answer.read().endswith(b"\r\n\r\nno, thank you")


@pytest.fixture
def slow():
    """A server with a slow answer: server, thread, client, answers, and an event to end it."""
    begun, go_on = threading.Event(), threading.Event()

    def app(environ, start_response):
        begun.set()
        assert go_on.wait(60)
        return Response(b"done")(environ, start_response)

    server = threaded_server(app, "127.0.0.1", 0)
    serving = threading.Thread(target=server.serve_forever, args=(0.02,))
    serving.start()
    answers = []

    def ask():
        answers.append(requests.get(f"http://127.0.0.1:{server.port}", timeout=60).text)

    client = threading.Thread(target=ask)
    client.start()
    assert begun.wait(60)
    yield server, serving, client, answers, go_on
    go_on.set()
    client.join()


def test_what_is_being_answered_is_answered_before_the_end(slow):
    server, serving, client, answers, go_on = slow
    server.shutdown()
    assert serving.is_alive() and not answers
    go_on.set()
    serving.join()
    client.join()
    with pytest.raises(requests.ConnectionError):
        requests.get(f"http://127.0.0.1:{server.port}", timeout=60)
    assert answers == ["done"]
    assert server.unanswered == 0


def dripping(port, stop):
    """A client that slowly sends single bytes of the body of a request."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        with suppress(OSError):
            while not stop.wait(0.02):
                client.sendall(b"x")


@pytest.fixture
def read_app():
    """An application that reads the body, and a list of the results."""
    read = []

    def app(environ, start_response):
        try:
            read.append(len(Request(environ).get_data()))
        except (OSError, HTTPException) as error:
            read.append(type(error).__name__)
            raise
        return Response(b"done")(environ, start_response)

    return app, read


def test_a_client_that_drips_is_cut_off(start, monkeypatch, read_app):
    monkeypatch.setattr("kerasnmt.serving.server.threaded_server._READING", 0.3)
    app, read = read_app
    url = start(app)
    stop = threading.Event()
    client = threading.Thread(target=dripping, args=(int(url.rpartition(":")[2]), stop))
    client.start()
    client.join(20)
    assert not client.is_alive() and len(read) == 1 and isinstance(read[0], str)
    # Each request has a separate time.
    with requests.Session() as session:
        for _ in range(3):
            assert session.post(url, data=b"abc", timeout=60).text == "done"
            time.sleep(0.2)
    assert read[1:] == [3, 3, 3]


def test_slow_and_idle_clients_do_not_keep_the_server_from_its_end(read_app):
    server = threaded_server(read_app[0], "127.0.0.1", 0)
    serving = threading.Thread(target=server.serve_forever, args=(0.02,))
    serving.start()
    stop = threading.Event()
    client = threading.Thread(target=dripping, args=(server.port, stop))
    client.start()
    with requests.Session() as idle:
        assert idle.post(f"http://127.0.0.1:{server.port}", data=b"a", timeout=60).text == "done"
        server.shutdown()
        serving.join(5)
        ended = not serving.is_alive()
    stop.set()
    client.join()
    serving.join()
    assert ended and server.unanswered == 0


def test_a_request_that_takes_too_long_is_counted(slow, monkeypatch):
    monkeypatch.setattr("kerasnmt.serving.server.threaded_server._ENDING", 0.1)
    server, serving, *_ = slow
    server.shutdown()
    serving.join(30)
    assert not serving.is_alive() and server.unanswered == 1


def test_addresses(start):
    url = start(Response(b"here"))
    port = int(url.rpartition(":")[2])
    assert requests.get(url, timeout=60).text == "here"
    for host, taken, reason in (
        ("127.0.0.1", port, "Address already in use"),
        ("no such host", 0, ""),
        ("127.0.0.1", 65536, ""),
    ):
        with pytest.raises(ValueError, match="Expected an address to listen on") as caught:
            threaded_server(Response(b""), host, taken)
        assert f"Received: host {host}, port {taken}: {reason}" in str(caught.value)
