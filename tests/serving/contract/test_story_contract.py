"""The check of exports that read stories and questions."""

import json

import numpy as np
import pytest

from kerasnmt.serving.check import check_export as check_module
from kerasnmt.serving.check.check_export import check_export
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.runtimes.saved_model import checks
from kerasnmt.serving.runtimes.saved_model.warmup import WarmupRequest, encode_warmup_request
from kerasnmt.serving.runtimes.version_folder import read_description

ROWS = ["files", "ops", "load", "signatures", "requests", "batch_of_one", "odd_inputs"]
ROWS += ["warmup", "python", "description", "expected"]
STORIES = ["Mary left.\nJohn came.", "one line", ""]
QUESTIONS = ["Where?", "", "Who?"]
WITHOUT_EXAMPLES = {"inputs": ["story", "question"], "model": "toy"}
ANSWERS = ["John came. Where?", "one line ", " Who?"]


def export(folder, fault="", description=None):
    """Write a toy that answers with the last line of the story and the question.

    `fault` names its fault.
    """
    import tensorflow as tf

    def readable(text):
        return tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")

    class Toy(tf.Module):
        def answer(self, story, question):
            last = tf.strings.split(story, "\n")[:, -1:].to_tensor("")[:, 0]
            answer = tf.strings.join(
                [last, question if fault == "utf-8" else readable(question)], " "
            )
            score = -tf.cast(tf.strings.length(story), tf.float32)
            if fault == "batch":
                score -= tf.cast(tf.size(story), tf.float32)
            if fault == "finite":
                score = tf.math.log(tf.cast(tf.strings.length(story) < 10_000, tf.float32))
            return {"answer": answer if fault == "utf-8" else readable(answer), "score": score}

    module = Toy()
    inputs = [tf.TensorSpec([None], tf.string, name=name) for name in ("story", "question")]
    if fault == "question":
        module.serve = tf.function(lambda story: module.answer(story, story), inputs[:1])
    else:
        module.serve = tf.function(module.answer, inputs)
    made_with = json.dumps(WITHOUT_EXAMPLES)
    module.description = tf.function(lambda: tf.constant(made_with), input_signature=[])
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.serve})
    if description is not None:
        (folder / "assets.extra").mkdir()
        (folder / "assets.extra" / "kerasnmt.json").write_text(json.dumps(description))
    return folder


def described(**changed):
    examples = {"story": STORIES, "question": QUESTIONS, "answer": ANSWERS, **changed}
    return {**WITHOUT_EXAMPLES, "examples": examples}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return export(tmp_path_factory.mktemp("toy") / "1", description=described())


@pytest.fixture
def quick(monkeypatch, served_here):
    """Run the check in this process, without the slowest rows."""
    monkeypatch.setattr(checks, "check_python", lambda *_: "")


def failed(report):
    return {row.name: row.detail for row in report.rows if not row.passed}


def details(report):
    return {row.name: row.detail for row in report.rows}


def write_warmup(version, *requests):
    import tensorflow as tf

    with tf.io.TFRecordWriter(str(version / "assets.extra" / "tf_serving_warmup_requests")) as file:
        for request in requests:
            file.write(encode_warmup_request(request, "toy"))


def test_a_good_export_passes(good):
    report = check_export(good.parent)
    assert failed(report) == {}
    assert [row.name for row in report.rows] == ROWS
    found = details(report)
    assert found["requests"] == "1 signature answered 3 questions"
    assert found["batch_of_one"] == "3 questions: same answers alone and in the batch"
    assert found["odd_inputs"] == (
        "24 odd questions, from no text as story to line breaks as question: answered in UTF-8, "
        "alone and in a batch"
    )
    assert found["expected"] == "3 answers as expected"


def test_without_a_description_its_inputs_tell_the_kind(tmp_path, quick):
    report = check_export(export(tmp_path / "1"))
    missing = tmp_path / "1" / "assets.extra" / "kerasnmt.json"
    assert failed(report) == {"description": f"{missing} is missing; export again"}
    assert details(report)["requests"] == "1 signature answered 5 questions"
    assert details(report)["expected"].startswith("not compared with the model: ")
    # No kind has these inputs, so the check expects the inputs of translation.
    assert failed(check_export(export(tmp_path / "2", "question"))) == {
        "signatures": "serving_default input: names ['story'], expected ['text']; "
        "serving_default output: names ['answer', 'score'], expected ['score', 'translation']; "
        "no signature 'n_best'"
    }


def test_a_signature_without_question_fails_its_row(tmp_path, quick):
    report = check_export(export(tmp_path / "1", "question", described()))
    assert failed(report) == {
        "signatures": "serving_default input: names ['story'], expected ['question', 'story']"
    }
    assert report.rows[-1].name == "signatures"


def test_texts_are_for_exports_that_translate(good, quick):
    assert failed(check_export(good, ["a"])) == {
        "signatures": "serving_default input: names ['question', 'story'], expected ['text']; "
        "serving_default output: names ['answer', 'score'], expected ['score', 'translation']; "
        "no signature 'n_best'"
    }


def test_wrong_answers_fail_their_row(tmp_path, quick):
    wrong = ["John came. Where?", "another", " Who?"]
    version = export(tmp_path / "1", description=described(answer=wrong))
    assert failed(check_export(version)) == {
        "expected": "answer of question 1: 'one line ', expected 'another'"
    }


@pytest.mark.parametrize(
    "changed", [{"answer": ANSWERS[:2]}, {"question": QUESTIONS[0]}, {"story": [1, 2, 3]}]
)
def test_broken_examples_fail_the_row_of_answers(good, tmp_path, changed):
    (tmp_path / "assets.extra").mkdir()
    (tmp_path / "saved_model.pb").write_bytes((good / "saved_model.pb").read_bytes())
    path = tmp_path / "assets.extra" / "kerasnmt.json"
    path.write_text(json.dumps(described(**changed)))
    report = check_export(tmp_path)
    assert [row.name for row in report.rows] == ["files", "expected"]
    assert failed(report)["expected"].startswith(f"{path}: expected the description of an export")
    with pytest.raises(ValueError, match="one answer for each of its examples"):
        read_description(tmp_path)


def test_scores_that_depend_on_the_batch_fail_their_rows(tmp_path, quick):
    wrong = failed(check_export(export(tmp_path / "1", "batch", WITHOUT_EXAMPLES)))
    assert wrong.keys() == {"batch_of_one", "odd_inputs"}
    assert wrong["batch_of_one"] == "score of question 0: -54, expected -58"
    assert wrong["odd_inputs"].startswith(
        "no text as story, alone: score of question 0: -1, expected -24; only spaces as"
    )


def test_odd_inputs_fail_their_row(tmp_path, quick):
    wrong = failed(check_export(export(tmp_path / "1", "utf-8", described())))
    assert wrong.keys() == {"odd_inputs"}
    # Bytes that are not UTF-8 are the sixth of the odd stories.
    assert wrong["odd_inputs"].startswith("serving_default: answer of question 5 is not UTF-8: b")
    wrong = failed(check_export(export(tmp_path / "2", "finite", WITHOUT_EXAMPLES)))
    # 909 words of 11 characters and a last one come to 10,000.
    assert wrong == {"odd_inputs": "serving_default: score of question 2 is not finite: -inf"}


def test_warmup_requests_are_replayed_with_their_inputs(tmp_path, quick, monkeypatch, served_here):
    version = export(tmp_path / "1", description=described())
    monkeypatch.setattr(check_module, "_check_odd_inputs", lambda *_: "")
    request = {"story": [b"a\nb", b"\xff"], "question": [b"c?", b""]}
    write_warmup(version, WarmupRequest("serving_default", request))
    asked = []
    run = served_here.run

    def note(self, signature, inputs):
        asked.append((signature, inputs))
        return run(self, signature, inputs)

    monkeypatch.setattr(served_here, "run", note)
    report = check_export(version)
    assert details(report)["warmup"] == "1 requests answered, for serving_default"
    assert asked[-1] == ("serving_default", request)

    misnamed = {"story": [b"a"], "query": [b"b"]}
    write_warmup(version, WarmupRequest("serving_default", misnamed))
    assert failed(check_export(version)) == {
        "warmup": "Expected the inputs ['question', 'story'] of the signature 'serving_default'. "
        "Received: inputs=['query', 'story']"
    }


def test_other_outputs_in_python_fail_their_row(good, monkeypatch, served_here):
    run = served_here.run

    def untrue(self, signature, inputs):
        outputs = run(self, signature, inputs)
        return {**outputs, "score": outputs["score"] + np.float32(0.01)}

    monkeypatch.setattr(served_here, "run", untrue)
    wrong = failed(check_export(good))
    assert wrong == {"python": "serving_default score of question 0: -20.99, expected -21"}


def test_an_odd_value_stands_beside_an_ordinary_one():
    contract = StoryContract()
    ordinary = contract.example_rows[0]
    rows = contract.odd_rows
    assert len(rows) == 13 + 11
    assert rows["a null byte as story"] == (b"two\0dogs \0 run", ordinary[1])
    assert rows["a null byte as question"] == (ordinary[0], b"two\0dogs \0 run")
    story, question = rows["1,000 sentences as story"]
    assert (story.count(b"\n"), question) == (1000, ordinary[1])
    assert {
        len(rows[f"10,000 characters as {name}"][i]) for i, name in enumerate(contract.inputs)
    } == {10_000}
