import threading

import pytest
import requests
from werkzeug.wrappers import Response

from kerasnmt.serving.development_server import development_server


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


def test_what_is_being_answered_is_answered_before_the_end():
    begun, go_on = threading.Event(), threading.Event()

    def slow(environ, start_response):
        begun.set()
        assert go_on.wait(60)
        return Response(b"done")(environ, start_response)

    server = development_server(slow, "127.0.0.1", 0)
    serving = threading.Thread(target=server.serve_forever, args=(0.02,))
    serving.start()
    answers = []
    url = f"http://127.0.0.1:{server.port}"
    client = threading.Thread(target=lambda: answers.append(requests.get(url, timeout=60).text))
    client.start()
    assert begun.wait(60)
    server.shutdown()
    assert serving.is_alive() and not answers
    go_on.set()
    serving.join()
    client.join()
    assert answers == ["done"]
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=60)


def test_addresses(start):
    url = start(Response(b"here"))
    port = int(url.rpartition(":")[2])
    assert requests.get(url, timeout=60).text == "here"
    for host, taken, reason in (
        ("127.0.0.1", port, "Address already in use"),
        ("no such host", 0, ""),
        ("127.0.0.1", 65536, ""),
    ):
        with pytest.raises(ValueError, match="Expected an address to listen at") as caught:
            development_server(Response(b""), host, taken)
        assert f"Received: host {host}, port {taken}: {reason}" in str(caught.value)
