import base64
import json
import re
from importlib.resources import files

import pytest
from werkzeug.test import Client

from kerasnmt import zoo
from kerasnmt.kinds import kind_of
from kerasnmt.serving import RestApp
from kerasnmt.serving.contract.caption_contract import encode_png
from kerasnmt.serving.runtimes.session import Session
from kerasnmt.serving.runtimes.version_folder import find_export
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.serving.server.page_app import PageApp
from kerasnmt.serving.server.page_models import ExportPageModel
from kerasnmt.serving.server.task_page_models import SearchPageModel
from kerasnmt.tasks import Explorer, task_of
from kerasnmt.text import PlainWordTokenizer, WordTokenizer
from tests.zoo.tiny_models import TINY

pytestmark = pytest.mark.usefixtures("eagerly")

OPTIONS = {"beam_size": 3, "max_length": 8}
ABOUT = {"name": "tiny", "description": "A model.", "examples": [{"text": "two"}]}


def client_of(task, **limits):
    return Client(PageApp(kind_of(task.fields).page_model(task), ABOUT, **limits))


@pytest.fixture(scope="module")
def task(word_model):
    return task_of(word_model, **OPTIONS)


@pytest.fixture(scope="module")
def client(task):
    return client_of(task, max_text_bytes=3000)


def ask(client, path, document, status=200):
    body = document if isinstance(document, bytes) else json.dumps(document)
    response = client.post(f"/page/{path}", data=body)
    assert response.status_code == status, response.text
    return response.get_json()


def test_files_of_the_page(client):
    page = client.get("/")
    assert page.content_type == "text/html; charset=utf-8"
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    wanted = re.findall(r'(?:src|href)="(page/[^"]+)"', page.text)
    assert len(wanted) == 4
    for path in wanted:
        response = client.get(f"/{path}")
        assert response.status_code == 200 and response.headers["X-Content-Type-Options"]
        assert response.text == files("kerasnmt.viz").joinpath(path).read_text("utf-8")


def test_page_is_small_and_loads_nothing():
    folder = files("kerasnmt.viz").joinpath("page")
    contents = [file.read_text("utf-8") for file in folder.iterdir()]
    assert sum(len(content.encode()) for content in contents) < 150_000
    addresses = {
        url for content in contents for url in re.findall(r"https?://[^\s\"'`)]+", content)
    }
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a format, not a place
    assert not any(re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(", c) for c in contents)


def test_what_the_page_knows(client):
    about = client.get("/page/model").get_json()
    assert about["examples"] == [{"text": "two"}] and about["name"] == "tiny"
    assert (about["drawing"], about["fields"], about["inspects"]) == ("alignment", ["text"], True)


def test_search_has_the_best_sentence(client, task):
    answer = ask(client, "search", {"text": "two"})
    found = Explorer(task).search({"text": "two"})
    assert [one["text"] for one in answer["hypotheses"]] == found.texts
    assert [one["ids"] for one in answer["hypotheses"]] == found.ids
    assert len(answer["tree"]) == len(found.tree)
    sentence = Explorer(task).inspect({"text": "two"}, found.ids[0]).document()
    assert answer["sentence"].items() >= json.loads(json.dumps(sentence)).items()
    assert answer["seconds"] > 0


def test_prefix_words_and_own_translation(client, task):
    prefix = task.target_ids("e", "two")[:-1]
    answer = ask(client, "search", {"text": "two", "prefix_ids": prefix})
    assert all(one["text"].startswith("e") for one in answer["hypotheses"])
    words = ask(client, "words", {"text": "two", "prefix_ids": prefix})["choices"]
    expected = Explorer(task).next_words({"text": "two"}, prefix)
    assert [word["text"] for word in words] == [word.text for word in expected]
    own = ask(client, "inspect", {"text": "two", "target": "abc"})
    again = ask(client, "inspect", {"text": "two", "target_ids": own["target"]["ids"]})
    assert own["text"] == again["text"] == "abc"
    score = task.model.score(["two"], ["abc"])[0]
    assert sum(own["target"]["log_probability"]) == pytest.approx(score, abs=1e-3)
    assert own["score"] == pytest.approx(score / ((5 + 4) / 6) ** 0.6, abs=1e-3)
    best = ask(client, "search", {"text": "two"})
    assert best["sentence"]["score"] == pytest.approx(best["hypotheses"][0]["score"], abs=1e-4)


def test_terms(client, task):
    assert client.get("/page/model").get_json()["terms"] is True
    request = {"text": "two", "terms": "ab|xyz\t!e"}
    answer = ask(client, "search", request)
    assert [one["text"] for one in answer["hypotheses"]] == Explorer(task).search(request).texts
    assert "ab" in answer["hypotheses"][0]["text"].split() and answer["unmet"] == []
    assert all("e" not in one["text"].split() for one in answer["hypotheses"])
    assert ask(client, "search", {"text": "two", "terms": "xyz|é"})["unmet"] == [
        "The answer lacks xyz or é."
    ]
    assert "unmet" not in ask(client, "search", {"text": "two", "terms": ""})
    answer = ask(client, "search", {"text": "two", "terms": "ab\t!ab"}, 400)
    assert "'ab', which must occur, and 'ab', which must not" in answer["error"]


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_to_translate(client, text):
    answer = ask(client, "search", {"text": text})
    assert [one["text"] for one in answer["hypotheses"]] == [""] and answer["sentence"] is None


@pytest.mark.parametrize(
    ("path", "document", "message"),
    [
        ("search", b"{", "Expecting property name"),
        ("search", b"[" * 10**5, "maximum recursion depth exceeded"),
        ("search", b"[1]", "Expected a JSON object"),
        ("search", {}, "Expected a string in 'text'. Received: null"),
        ("search", {"text": 5}, "Received: 5"),
        ("search", {"text": "a" * 3001}, "at most 3000 bytes. Received: 3001"),
        ("search", {"text": "two", "prefix_ids": [True]}, "list of integers in 'prefix_ids'"),
        ("search", {"text": "two", "prefix_ids": "4"}, 'Received: "4"'),
        ("search", {"text": "two", "prefix_ids": [10**30]}, "Expected ids of words"),
        ("search", {"text": "two", "prefix_ids": [4] * 9}, "at most 8 tokens"),
        ("inspect", {"text": "two"}, "list of integers in 'target_ids'. Received: null"),
        ("inspect", {"text": "two", "target": 1}, "Expected a string in 'target'"),
        ("inspect", {"text": "two", "target": "a" * 20}, "at most 8 tokens"),
        ("words", {"text": "two", "prefix_ids": [3]}, "Received: 3"),
    ],
)
def test_wrong_questions(client, path, document, message):
    assert message in ask(client, path, document, 400)["error"]


def test_a_body_that_is_too_large(task):
    ask(client_of(task, max_body_bytes=10), "search", {"text": "a"}, status=413)


def test_half_a_surrogate_pair_is_an_unknown_character(client):
    answer = ask(client, "search", b'{"text": "two \\ud800"}')
    assert answer["hypotheses"] == ask(client, "search", {"text": "two ?"})["hypotheses"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("post", "/", 405), ("get", "/page/search", 405), ("get", "/page/other", 404)],
)
def test_wrong_paths_and_methods(client, method, path, status):
    response = getattr(client, method)(path)
    assert response.status_code == status and response.get_json()["error"]


@pytest.mark.thorough("another kind of request; stories are tried too")
def test_captions():
    tokenizer = WordTokenizer(["a", "red", "circle"])
    model = zoo.show_attend_tell_lstm(tokenizer, **TINY)
    client = client_of(task_of(model, **OPTIONS))
    about = client.get("/page/model").get_json()
    assert (about["drawing"], about["grid"]) == ("regions", [*model.encoder.grid])
    image = encode_png(9, 7, (200, 10, 0))
    answer = ask(client, "search", {"image": base64.b64encode(image).decode()})
    assert answer["hypotheses"][0]["text"] == model.caption([image], **OPTIONS)[0]
    assert "base64 in 'image'" in ask(client, "search", {"image": "%"}, 400)["error"]
    own = {"image": base64.b64encode(image).decode(), "target": "a red circle"}
    assert ask(client, "inspect", own)["text"] == "a red circle"


def test_stories():
    words = PlainWordTokenizer(["ann", "went", "home", "where", "is"])
    model = zoo.memory_network(words, embedding_dim=4)
    client = client_of(task_of(model))
    about = client.get("/page/model").get_json()
    assert (about["drawing"], about["inspects"]) == ("hops", False)
    request = {"story": "ann went home", "question": "where is ann"}
    answer = ask(client, "search", request)
    assert answer["hypotheses"][0]["text"] == model.answer([["ann went home"]], ["where is ann"])[0]
    assert answer["sentence"]["sentences"] == ["ann went home"]
    assert ask(client, "search", {**request, "question": ""})["hypotheses"] == []
    assert "run or a preset" in ask(client, "words", {**request, "prefix_ids": []}, 400)["error"]
    assert "that translates" in ask(client, "search", {**request, "terms": "a"}, 400)["error"]


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({}, ""),
        ({"split_sentences": True}, "Type one sentence: this page reads the whole text as one."),
        ({"split_words": True}, "Type one word: this page reads the whole text as one."),
    ],
)
def test_the_page_says_what_a_model_of_sentences_or_words_reads(word_model, options, advice):
    task = task_of(word_model, max_length=12, **options)
    assert SearchPageModel(task).describe()["note"] == advice


def test_export_gives_what_its_signatures_give(served_folder, served_session, expected):
    description = find_export(served_folder)[1]
    app = RestApp(served_session, "tiny", 3, description=description)
    model = ExportPageModel(CurrentVersion(app))
    client = Client(PageApp(model, {**ABOUT, "examples": []}))
    about = client.get("/page/model").get_json()
    assert not about["inspects"] and "Serve the run or the preset instead" in about["note"]
    answer = ask(client, "search", {"text": "two dogs run ."})
    (ranked,) = expected.n_best(["two dogs run ."])
    assert [one["text"] for one in answer["hypotheses"]] == [text for text, _ in ranked]
    (attended,) = expected.attention(["two dogs run ."])
    assert answer["sentence"]["target"]["tokens"] == attended.target_tokens
    weights = answer["sentence"]["sources"][0]["weights"]
    assert weights == [pytest.approx(row, abs=1e-4) for row in attended.weights.tolist()]
    assert ask(client, "search", {"text": ""})["sentence"] is None
    answer = ask(client, "search", {"text": "dog", "terms": "ab\t!e"})
    ((text, score),) = expected.best(["dog"], terms=[["ab"]], forbidden=[["e"]])
    assert answer["hypotheses"] == [{"text": text, "score": pytest.approx(score, abs=1e-4)}]
    assert answer["sentence"] is None and answer["unmet"] == []
    assert "which must not" in ask(client, "search", {"text": "a", "terms": "b\t!b"}, 400)["error"]
    for path in ("inspect", "words"):
        assert "run or a preset" in ask(client, path, {"text": "a"}, 400)["error"]


def test_the_page_reads_the_description_of_each_version():
    def app(number, **description):
        session = Session()
        session.signatures = {}
        return RestApp(session, "tiny", number, description=description)

    current = CurrentVersion(app(1))
    model = ExportPageModel(current)
    assert model.describe()["fields"] == ["text"]  # without a description
    for number, grid in ((2, [2, 2]), (1, [1, 1]), (2, [3, 3])):
        current.replace(app(number, grid=grid))
        assert model.describe()["grid"] == grid


def test_the_page_refuses_a_text_without_a_language_of_the_model():
    session = Session()
    session.signatures = {}
    app = RestApp(session, "tiny", 1, description={"source_tags": ["<eng>", "<deu>"]})
    client = Client(PageApp(ExportPageModel(CurrentVersion(app)), {**ABOUT, "examples": []}))
    error = ask(client, "search", {"text": "<en>house"}, 400)["error"]
    assert error.endswith("each text: <deu>, <eng>. Received: '<en>house'.")


def test_warm_up_answers_the_first_example(task):
    asked = []
    model = kind_of(task.fields).page_model(task)
    model.search = lambda request, prefix_ids: asked.append((request, prefix_ids))
    PageApp(model, ABOUT).warm_up()
    assert asked == [({"text": "two"}, [])]
