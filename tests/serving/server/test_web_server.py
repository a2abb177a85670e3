import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress

import pytest
import requests
from werkzeug.wrappers import Response

from kerasnmt.serving.server.web_server import web_server


def test_many_clients_at_a_time(start, rest_app, expected):
    texts = ["two dogs run .", "dog", "", "a man reads .", "cat"]
    url = start(rest_app) + "/v1/models/tiny:predict"
    found = {}

    def ask(number):
        answer = requests.post(url, json={"instances": [texts[number % 5]]}, timeout=60).json()
        found[number] = answer["predictions"][0]["translation"]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    translations = expected.translate(texts)
    assert found == {number: translations[number % 5] for number in range(20)}


def test_a_large_body_is_refused_with_an_answer(start, rest_app):
    url = start(rest_app, max_body_bytes=20_000) + "/v1/models/tiny:predict"
    parts = (b" " * 1000 for _ in range(30))  # of a length that is not told beforehand
    for body in (b" " * 20_001, b" " * 30_000, parts):
        answer = requests.post(url, data=body, timeout=60)
        assert answer.status_code == 413
        assert answer.json() == {"error": "Expected at most 20000 bytes in a request"}


@pytest.fixture
def app():
    """An application that records the lengths of the bodies, and the list of them."""
    lengths = []

    def app(environ, start_response):
        lengths.append(len(environ["wsgi.input"].read()))
        return Response(b"done")(environ, start_response)

    return app, lengths


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"


def connect(url):
    return socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 60)


def test_a_body_of_twice_the_size_is_not_read(start, app):
    url = start(app[0], max_body_bytes=499)
    with connect(url) as client:
        client.sendall(HEAD)
        assert client.makefile("rb").readline() == b"HTTP/1.1 413 Request Entity Too Large\r\n"
    url = start(app[0], max_body_bytes=501)
    assert requests.post(url, data=b" " * 1000, timeout=60).text == "done"
    assert app[1] == [1000]


def test_slow_clients_hold_no_thread(start, app):
    """Clients that trickle bytes of a header or a body, or say nothing, and more than threads."""
    url = start(app[0], max_requests=1)  # five threads
    stop = threading.Event()

    def trickle(client, data):
        with suppress(OSError):
            for byte in data:
                client.sendall(bytes([byte]))
                if stop.wait(0.02):
                    return

    with ExitStack() as stack:
        silent, heads, bodies = (
            [stack.enter_context(connect(url)) for _ in range(7)] for _ in range(3)
        )
        for client in bodies:
            client.sendall(HEAD)
        slow = [threading.Thread(target=trickle, args=(client, HEAD)) for client in heads]
        slow += [threading.Thread(target=trickle, args=(client, b"x" * 1000)) for client in bodies]
        for thread in slow:
            thread.start()
        for _ in range(20):
            assert requests.post(url, data=b"abc", timeout=10).text == "done"
        assert app[1] == [3] * 20
        silent[0].sendall(HEAD + b"x" * 1000)
        assert silent[0].recv(12) == b"HTTP/1.1 200"
        assert app[1] == [*[3] * 20, 1000]
        stop.set()
        for thread in slow:
            thread.join()


def test_silent_clients_are_disconnected_and_make_room(start, app):
    # The server's own two files count as connections.
    url = start(app[0], connections=4, silence=1)
    begin = time.monotonic()
    with connect(url) as one, connect(url) as other:
        one.sendall(HEAD[:20])
        assert requests.post(url, data=b"abc", timeout=60).text == "done"
        assert [client.recv(1) for client in (one, other)] == [b"", b""]
    assert 1 <= time.monotonic() - begin < 30


STOPPED = """
import signal, sys
from contextlib import suppress
from kerasnmt.serving.server.server_app import ServerApp
from kerasnmt.serving.server.web_server import web_server

def page(environ, start_response):
    print("begun", flush=True)
    sys.stdin.readline()
    start_response("200 OK", [])
    return [b"done"]

signal.signal(signal.SIGTERM, signal.default_int_handler)
signal.signal(signal.SIGINT, signal.default_int_handler)
app = ServerApp(None, page=page)
server = web_server(app, "127.0.0.1", 0)
print(server.effective_port, flush=True)
with suppress(KeyboardInterrupt):
    server.run()
print(len(app.unanswered), flush=True)
"""


@pytest.mark.parametrize("answered", [True, False])
def test_a_stop_answers_what_is_under_way(answered):
    """A second interruption ends the waiting, and the answer is counted as missing."""
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    url = f"http://127.0.0.1:{process.stdout.readline().strip()}"
    answers = []

    def ask():
        with suppress(requests.ConnectionError):
            answers.append(requests.get(url, timeout=60).text)

    client = threading.Thread(target=ask)
    client.start()
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGTERM)
    if answered:
        time.sleep(0.3)
        assert process.poll() is None and not answers
        print(file=process.stdin, flush=True)
    else:
        process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == f"{int(not answered)}\n"
    process.kill()
    process.communicate()
    client.join()
    assert answers == ["done"] * answered


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
            web_server(Response(b""), host, taken)
        assert f"Received: host {host}, port {taken}: {reason}" in str(caught.value)
