"""Memory networks as SavedModels, from story and question to answer."""

import json

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.serving import (
    ExportModule,
    Translator,
    load_export,
)
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession
from tests.numerics import fill

STORIES = ["Mary went home.\nJohn went away.", "", "John went away.", "\n...\r\nMary  is\taway"]
QUESTIONS = ["Where is Mary?", "Where is John?", "?!", "Is unheard home?"]


@pytest.fixture(scope="module")
def expected(story_model):
    """The answers and scores of the model."""
    module = ExportModule(story_model)  # kept, as its functions hold it weakly
    found = module.signatures["serving_default"](tf.constant(STORIES), tf.constant(QUESTIONS))
    return {name: value.numpy() for name, value in found.items()}


def test_a_server_answers_as_the_model_does(story_model, story_session, expected):
    answers = story_model.answer([story.split("\n") for story in STORIES], QUESTIONS)
    assert [answer.decode() for answer in expected["answer"]] == answers
    assert answers[2] == "" and all(answers[place] for place in (0, 1, 3))
    assert expected["score"][2] == 0.0 and (expected["score"][[0, 1, 3]] < 0).all()
    served = story_session.run("serving_default", {"story": STORIES, "question": QUESTIONS})
    np.testing.assert_array_equal(served["answer"], expected["answer"])
    np.testing.assert_allclose(served["score"], expected["score"], atol=1e-5)
    for row, (story, question) in enumerate(zip(STORIES, QUESTIONS, strict=True)):
        alone = story_session.run("serving_default", {"story": [story], "question": [question]})
        assert alone["answer"][0] == expected["answer"][row]
        np.testing.assert_allclose(alone["score"][0], expected["score"][row], atol=1e-5)


def test_any_bytes_and_no_rows(story_session):
    odd = [b"\xff\xfe mary\n\xed\xa0\x80", b"mary\0went", b"x" * 10_000, b"\n" * 100, b"  "]
    found = story_session.run("serving_default", {"story": odd, "question": odd})
    assert found["answer"].shape == found["score"].shape == (5,)
    assert np.isfinite(found["score"]).all()
    assert found["answer"].tolist()[3:] == [b"", b""]
    none = story_session.run("serving_default", {"story": [], "question": []})
    assert none["answer"].shape == none["score"].shape == (0,)


def test_long_lines_are_cut(story_model, story_session):
    """A line of ten thousand words takes no more time than one of a hundred."""
    words = " ".join(["mary", "john", "went", "home", "away"] * 2000)
    first = " ".join(["mary", "john", "went", "home", "away"] * 20)
    long = {"story": [f"john home\n{words}\nmary went", words], "question": ["where", words]}
    cut = {"story": [f"john home\n{first}\nmary went", first], "question": ["where", first]}
    whole, served = (story_session.run("serving_default", inputs) for inputs in (long, cut))
    np.testing.assert_array_equal(whole["answer"], served["answer"])
    np.testing.assert_allclose(whole["score"], served["score"], atol=1e-6)
    # The hundredth word is read.
    less = story_session.run("serving_default", {"story": [first[:-5]], "question": [first]})
    assert less["score"][0] != pytest.approx(served["score"][1], abs=1e-3)


def test_what_is_read_of_long_sentences_and_stories(story_model):
    words = story_model.source_tokenizer
    timeless = zoo.memory_network(words, embedding_dim=6, temporal_encoding=False)
    fill(timeless, seed=1, scale=0.7)
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
        ExportModule(story_model, max_words=0)


def test_signature_and_description(story_folder, story_session):
    assert story_session.signatures.keys() == {"serving_default"}
    inputs, outputs = story_session.signatures["serving_default"]
    assert {name: (info.dtype, info.shape) for name, info in {**inputs, **outputs}.items()} == {
        "story": ("string", [-1]),
        "question": ("string", [-1]),
        "answer": ("string", [-1]),
        "score": ("float32", [-1]),
    }
    written = json.loads((story_folder / "1" / "assets.extra" / "kerasnmt.json").read_text())
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
    found = story_session.run(
        "serving_default", {"story": examples["story"], "question": examples["question"]}
    )
    assert [answer.decode() for answer in found["answer"]] == examples["answer"]


@pytest.mark.thorough("test_stored_weights.py tests smaller weights of another model")
def test_smaller_weights(story_model, expected, tmp_path):
    version = story_model.export(tmp_path / "1", weights="float16")
    with SavedModelSession(version) as session:
        served = session.run("serving_default", {"story": STORIES, "question": QUESTIONS})
    np.testing.assert_allclose(served["score"], expected["score"], atol=0.05)


def test_it_is_loaded_and_asked(story_folder, expected):
    translator = Translator(load_export(story_folder / "1"))
    answers = translator.answer([story.split("\n") for story in STORIES], QUESTIONS, batch_size=3)
    assert answers == [answer.decode() for answer in expected["answer"]]
    found = translator.ask({"question": QUESTIONS, "story": STORIES})
    assert [answer for answer, _ in found] == answers
    np.testing.assert_allclose([score for _, score in found], expected["score"], atol=1e-5)
    with pytest.raises(ValueError, match=r"with story and question, .* Received: text\."):
        translator.translate(QUESTIONS)
    with pytest.raises(ValueError, match=r"with story and question, .* Received: image\."):
        translator.caption([b"an image"])
