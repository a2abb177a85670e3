"""Memory networks as SavedModels, from story and question to answer."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from kerasnmt import zoo
from kerasnmt.serving import (
    ExportModule,
    RestApp,
    Translator,
    check_export,
    export_next_version,
    load_export,
)
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession
from kerasnmt.text import PlainWordTokenizer

STORIES = ["Mary went home.\nJohn went away.", "", "John went away.", "\n...\r\nMary  is\taway"]
QUESTIONS = ["Where is Mary?", "Where is John?", "?!", "Is unheard home?"]


@pytest.fixture(scope="module")
def model():
    """A tiny model with large random weights and the state of an optimizer."""
    words = ["mary", "john", "went", "home", "away", "where", "is", "home,away"]
    model = zoo.memory_network(PlainWordTokenizer(words), embedding_dim=6, max_sentences=3)
    rng = np.random.default_rng(0)
    model.set_weights([0.7 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    model.hop.linear.assign(0.0)
    model.compile(keras.optimizers.Adam(0.01))
    return model


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports") / "qa"
    assert model.export(str(folder / "1")) == str(folder / "1")
    return folder


@pytest.fixture(scope="module")
def session(exported):
    with SavedModelSession(exported / "1") as session:
        yield session


@pytest.fixture(scope="module")
def expected(model):
    """The answers and scores of the model."""
    module = ExportModule(model)  # kept, as its functions hold it weakly
    found = module.signatures["serving_default"](tf.constant(STORIES), tf.constant(QUESTIONS))
    return {name: value.numpy() for name, value in found.items()}


def test_a_server_answers_as_the_model_does(model, session, expected):
    answers = model.answer([story.split("\n") for story in STORIES], QUESTIONS)
    assert [answer.decode() for answer in expected["answer"]] == answers
    assert answers[2] == "" and all(answers[place] for place in (0, 1, 3))
    assert expected["score"][2] == 0.0 and (expected["score"][[0, 1, 3]] < 0).all()
    served = session.run("serving_default", {"story": STORIES, "question": QUESTIONS})
    np.testing.assert_array_equal(served["answer"], expected["answer"])
    np.testing.assert_allclose(served["score"], expected["score"], atol=1e-5)
    for row, (story, question) in enumerate(zip(STORIES, QUESTIONS, strict=True)):
        alone = session.run("serving_default", {"story": [story], "question": [question]})
        assert alone["answer"][0] == expected["answer"][row]
        np.testing.assert_allclose(alone["score"][0], expected["score"][row], atol=1e-5)


def test_any_bytes_and_no_rows(session):
    odd = [b"\xff\xfe mary\n\xed\xa0\x80", b"mary\0went", b"x" * 10_000, b"\n" * 100, b"  "]
    found = session.run("serving_default", {"story": odd, "question": odd})
    assert found["answer"].shape == found["score"].shape == (5,)
    assert np.isfinite(found["score"]).all()
    assert found["answer"].tolist()[3:] == [b"", b""]
    none = session.run("serving_default", {"story": [], "question": []})
    assert none["answer"].shape == none["score"].shape == (0,)


def test_long_lines_are_cut(model, session):
    """A line of ten thousand words takes no more time than one of a hundred."""
    words = " ".join(["mary", "john", "went", "home", "away"] * 2000)
    first = " ".join(["mary", "john", "went", "home", "away"] * 20)
    long = {"story": [f"john home\n{words}\nmary went", words], "question": ["where", words]}
    cut = {"story": [f"john home\n{first}\nmary went", first], "question": ["where", first]}
    whole, served = (session.run("serving_default", inputs) for inputs in (long, cut))
    np.testing.assert_array_equal(whole["answer"], served["answer"])
    np.testing.assert_allclose(whole["score"], served["score"], atol=1e-6)
    # The hundredth word is read.
    less = session.run("serving_default", {"story": [first[:-5]], "question": [first]})
    assert less["score"][0] != pytest.approx(served["score"][1], abs=1e-3)


def test_what_is_read_of_long_sentences_and_stories(model):
    timeless = zoo.memory_network(model.source_tokenizer, embedding_dim=6, temporal_encoding=False)
    rng = np.random.default_rng(1)
    timeless.set_weights([0.7 * rng.normal(size=one.shape) for one in timeless.get_weights()])
    timeless.hop.linear.assign(0.0)
    module = ExportModule(timeless, max_words=2)

    def score(*row):
        return module.signatures["serving_default"](*([text] for text in row))["score"].numpy()[0]

    short = score("john home\nmary went", "where is")
    assert score("john home away\nmary went went away", "where is john") == short
    assert score("home john\nmary went", "where is") != pytest.approx(short, abs=1e-3)
    # A model without ages could read any number of sentences.
    many = "john home\n" * 1000
    assert score("mary went\n" + many, "where is") == score(many, "where is")
    assert score("mary went\n" + many[10:], "where is") != score(many, "where is")
    with pytest.raises(ValueError, match="Expected max_words >= 1"):
        ExportModule(model, max_words=0)


def test_signature_and_description(exported, session):
    assert session.signatures.keys() == {"serving_default"}
    inputs, outputs = session.signatures["serving_default"]
    assert {name: (info.dtype, info.shape) for name, info in {**inputs, **outputs}.items()} == {
        "story": ("string", [-1]),
        "question": ("string", [-1]),
        "answer": ("string", [-1]),
        "score": ("float32", [-1]),
    }
    written = json.loads((exported / "1" / "assets.extra" / "kerasnmt.json").read_text())
    examples = written.pop("examples")
    assert written == {
        "inputs": ["story", "question"],
        "model": "memory_network",
        "max_sentences": 3,
        "max_words": 100,
        "weights": "float32",
        "source_kind": "words",
        "target_kind": "words",
    }
    found = session.run(
        "serving_default", {"story": examples["story"], "question": examples["question"]}
    )
    assert [answer.decode() for answer in found["answer"]] == examples["answer"]


def test_warmup_requests_are_read_by_the_classes_of_the_server(exported, session):
    path = exported / "1" / "assets.extra" / "tf_serving_warmup_requests"
    records = list(tf.data.TFRecordDataset(str(path)).as_numpy_iterator())
    assert len(records) == 9
    for record in records:
        request = PredictionLog.FromString(record).predict_log.request
        assert request.model_spec.name == "qa"
        inputs = {name: tf.make_ndarray(tensor).tolist() for name, tensor in request.inputs.items()}
        assert len(session.run("serving_default", inputs)["answer"]) == len(inputs["story"])


def test_rows_of_a_rest_request(session, expected):
    from werkzeug.test import Client

    rows = [
        {"story": story, "question": question}
        for story, question in zip(STORIES, QUESTIONS, strict=True)
    ]
    client = Client(RestApp(session, "qa", 1))
    answer = client.post("/v1/models/qa:predict", json={"instances": rows}).json
    assert [row["answer"].encode() for row in answer["predictions"]] == expected["answer"].tolist()
    scores = [row["score"] for row in answer["predictions"]]
    np.testing.assert_allclose(scores, expected["score"], atol=1e-5)


@pytest.mark.thorough("test_saved_model.py and test_stored_weights.py test both")
def test_versions_and_smaller_weights(model, exported, expected):
    with pytest.raises(ValueError, match="Expected a directory that does not exist"):
        model.export(exported / "1")
    with pytest.raises(ValueError, match="a version number"):
        model.export(exported / "new")
    version = export_next_version(model, exported, weights="float16")
    assert version == str(exported / "2")
    with SavedModelSession(version) as session:
        served = session.run("serving_default", {"story": STORIES, "question": QUESTIONS})
    np.testing.assert_allclose(served["score"], expected["score"], atol=0.05)


def test_it_is_loaded_and_asked(exported, expected):
    translator = Translator(load_export(exported / "1"))
    answers = translator.answer([story.split("\n") for story in STORIES], QUESTIONS, batch_size=3)
    assert answers == [answer.decode() for answer in expected["answer"]]
    found = translator.ask({"question": QUESTIONS, "story": STORIES})
    assert [answer for answer, _ in found] == answers
    np.testing.assert_allclose([score for _, score in found], expected["score"], atol=1e-5)
    with pytest.raises(ValueError, match=r"with story and question, .* Received: text\."):
        translator.translate(QUESTIONS)
    with pytest.raises(ValueError, match=r"with story and question, .* Received: image\."):
        translator.caption([b"an image"])


@pytest.mark.thorough("checks another kind; test_check_export.py tests the check")
def test_check_passes(exported):
    report = check_export(exported / "1")
    assert report.passed, str(report)
    assert [row.name for row in report.rows] == [
        *("files", "ops", "load", "signatures", "requests"),
        *("batch_of_one", "odd_inputs", "warmup", "python", "description"),
        "expected",
    ]
    details = {row.name: row.detail for row in report.rows}
    assert details["signatures"] == "serving_default"
    assert details["requests"] == "1 signature answered 5 questions"
    assert details["warmup"] == "9 requests answered, for serving_default"
    assert details["expected"] == "5 answers as expected"
