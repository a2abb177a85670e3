import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
from werkzeug.test import Client

from kerasnmt import zoo
from kerasnmt.serving import RestApp
from kerasnmt.serving.contract.caption_contract import encode_png
from kerasnmt.serving.protocol.rest_metadata import read_metadata
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession
from kerasnmt.serving.server.task_session import TaskSession
from kerasnmt.tasks import task_of
from kerasnmt.tasks.steps import Steps
from kerasnmt.text import WordTokenizer
from tests.conftest import SERVED_OPTIONS, WORDS
from tests.zoo.tiny_models import TINY

TEXTS = ["two dogs run .", "", "naïve 🙂", "a man reads .", "x" * 3000]


@pytest.fixture(scope="module")
def session(story_model):
    with TaskSession(task_of(story_model)) as session:
        yield session


def without_tensors(signatures):
    """Return the dtype and shape of each input and output."""
    return {
        name: [
            {key: (info.dtype, info.shape) for key, info in infos.items()} for infos in signature
        ]
        for name, signature in signatures.items()
    }


def compare(session, export, requests):
    """Compare a session with the session of an export: signatures and answers."""
    assert without_tensors(session.signatures) == without_tensors(export.signatures)
    for name, signature in export.signatures.items():
        for inputs in requests:
            if "terms" in signature.inputs:
                inputs = {**inputs, "terms": ["dog"] * len(inputs["text"])}
            found, expected = (one.run(name, inputs) for one in (session, export))
            assert [*found] == [*expected] == [*signature.outputs]
            for key, array in expected.items():
                assert found[key].dtype == array.dtype and found[key].shape == array.shape
                if array.dtype == object:
                    np.testing.assert_array_equal(found[key], array)
                else:
                    np.testing.assert_allclose(found[key], array, atol=1e-5)


@pytest.mark.graph
def test_signatures_and_answers_match_the_export(session, story_session):
    texts = np.array([text.encode() for text in TEXTS], object)
    requests = [{"story": some, "question": some[::-1]} for some in (texts, TEXTS[:1], [])]
    compare(session, story_session, requests)


@pytest.mark.thorough("traces three searches")
@pytest.mark.graph
def test_signatures_and_answers_of_translations_match_the_export(word_model, served_session):
    with TaskSession(task_of(word_model, **SERVED_OPTIONS)) as session:
        compare(session, served_session, [{"text": TEXTS}, {"text": TEXTS[:1]}, {"text": []}])


def contexts():
    model = zoo.context_attention_gru(WordTokenizer(WORDS), **TINY)
    return model, SERVED_OPTIONS, {"text": TEXTS, "context": TEXTS[::-1]}


def captions():
    model = zoo.show_attend_tell_lstm(
        WordTokenizer(WORDS), image_size=8, filters=(2,), units=3, embedding_dim=2
    )
    return model, SERVED_OPTIONS, {"image": [encode_png(9, 7, (200, 10, 0)), b"no image"]}


@pytest.mark.thorough("exports other kinds of models")
@pytest.mark.parametrize("make", [contexts, captions])
def test_other_kinds_of_models(make, tmp_path):
    model, options, request = make()
    rng = np.random.default_rng(5)
    model.set_weights([1.3 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    model.export(str(tmp_path / "1"), **options)
    with (
        TaskSession(task_of(model, **options)) as session,
        SavedModelSession(tmp_path / "1") as export,
    ):
        compare(session, export, [request])


@pytest.mark.graph
def test_routes_match_the_export(session, story_session):
    ours, theirs = (Client(RestApp(one, "tiny", 3)) for one in (session, story_session))
    for request in (
        {"inputs": {"story": [{"b64": "/w=="}], "question": ["mary"]}},
        {"inputs": TEXTS, "signature_name": "score"},  # no signature of an export
        {"inputs": {"story": [1], "question": ["mary"]}},
        {"inputs": {"text": ["a"]}},
    ):
        found, expected = (
            client.post("/v1/models/tiny:predict", json=request) for client in (ours, theirs)
        )
        assert found.status_code == expected.status_code
        assert found.get_json() == near(expected.get_json())
    found, expected = (
        read_metadata(client.get("/v1/models/tiny/metadata").get_json())
        for client in (ours, theirs)
    )
    assert without_tensors(found) == without_tensors(expected)


def near(document):
    """Return a document that equals documents with nearly the same scores."""
    if "outputs" in document:
        document["outputs"]["score"] = pytest.approx(document["outputs"]["score"], abs=1e-5)
    return document


@pytest.fixture
def task(word_model):
    """A task with steps that are traced at once, and a list of the signatures that were traced."""
    task, traced = task_of(word_model, **SERVED_OPTIONS), []
    for name in task.exported:

        def read(text, name=name):
            traced.append(name)
            good = tf.debugging.Assert(tf.reduce_all(text != "bad"), ["no bad texts, please"])
            with tf.control_dependencies([good]):
                return tf.identity(text), None

        def write(text, _):
            return {"translation": tf.strings.upper(text)}

        task.exported[name] = Steps(("text",), read, tf.identity, write)
    return task, traced


@pytest.mark.graph
def test_a_signature_is_traced_once_when_it_is_needed(task):
    task, traced = task
    session = TaskSession(task)
    assert [*session.signatures] == ["attention", "n_best", "serving_default", "with_terms"]
    assert len(session.signatures) == 4 and "score" not in session.signatures
    assert "n_best" in session.signatures and not traced
    together = threading.Barrier(8)

    def run(place):
        together.wait(60)
        return session.run("serving_default", {"text": TEXTS[place % 4 :]})["translation"]

    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(run, range(8))]
    assert traced == ["serving_default"]
    expected = [text.encode().upper() for text in TEXTS]
    for place, translations in enumerate(found):
        assert translations.tolist() == expected[place % 4 :]
    with pytest.raises(KeyError, match="score"):
        session.signatures["score"]


@pytest.mark.graph
def test_errors_and_the_end(task):
    session = TaskSession(task[0])
    with pytest.raises(RuntimeError, match="no bad texts, please"):
        session.run("serving_default", {"text": ["good", "bad"]})
    with pytest.raises(ValueError, match=r"one of the signatures \['.*Received: signature='score'"):
        session.run("score", {"text": ["good"]})
    assert len(session.run("serving_default", {"text": ["good"]})["translation"]) == 1
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match="Expected an open session"):
        session.run("serving_default", {"text": ["good"]})
