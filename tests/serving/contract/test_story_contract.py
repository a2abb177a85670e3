"""The check of exports that read stories and questions."""

import json
import shutil

import numpy as np
import pytest

from kerasnmt.serving.check.check_export import check_export
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.protocol.meta_graph import Signature
from kerasnmt.serving.runtimes.saved_model import checks
from kerasnmt.serving.runtimes.saved_model.warmup import WarmupRequest, encode_warmup_request
from kerasnmt.serving.runtimes.version_folder import read_description
from tests.serving.conftest import details, failed, write_warmup

ROWS = ["files", "ops", "load", "signatures", "requests", "batch_of_one", "odd_inputs"]
ROWS += ["warmup", "python", "description", "expected"]


@pytest.fixture
def here(served_here, story_session):
    """Check the export of stories in this process, or a copy as if it gave the same answers."""
    served_here.session = story_session
    return served_here


@pytest.fixture
def copy(story_folder, tmp_path, monkeypatch):
    """A copy of the export and the path of its description; the check does not load it in Python"""
    monkeypatch.setattr(checks, "check_python", lambda *_: "")
    monkeypatch.setattr(checks, "check_description", lambda *_: "")
    folder = shutil.copytree(story_folder / "1", tmp_path / "1")
    return folder, folder / "assets.extra" / "kerasnmt.json"


def change_examples(path, **changed):
    description = json.loads(path.read_text())
    description["examples"] |= changed
    path.write_text(json.dumps(description))
    return description["examples"]


@pytest.mark.usefixtures("here")
def test_a_good_export_passes(story_folder):
    report = check_export(story_folder)
    assert failed(report) == {}
    assert [row.name for row in report.rows] == ROWS
    found = details(report)
    assert found["signatures"] == "serving_default"
    assert found["requests"] == "1 signature answered 5 questions"
    assert found["batch_of_one"] == "5 questions: same answers alone and in the batch"
    assert found["odd_inputs"] == (
        "24 odd questions, from no text as story to line breaks as question: answered in UTF-8, "
        "alone and in a batch"
    )
    assert found["warmup"] == "9 requests answered, for serving_default"
    assert found["expected"] == "5 answers as expected"


@pytest.mark.usefixtures("here")
def test_without_a_description_its_inputs_tell_the_kind(copy, monkeypatch):
    folder, path = copy
    path.unlink()
    report = check_export(folder)
    assert failed(report) == {}
    assert details(report)["requests"] == "1 signature answered 5 questions"
    assert details(report)["expected"].startswith("not compared with the model: ")


def test_a_signature_without_question_fails_its_row(copy, here, story_session):
    inputs, outputs = story_session.signatures["serving_default"]
    here.signatures = {"serving_default": Signature({"story": inputs["story"]}, outputs)}
    report = check_export(copy[0])
    assert failed(report) == {
        "signatures": "serving_default input: names ['story'], expected ['question', 'story']"
    }
    assert report.rows[-1].name == "signatures"


@pytest.mark.usefixtures("here")
def test_texts_are_for_exports_that_translate(story_folder):
    assert failed(check_export(story_folder, ["a"])) == {
        "signatures": "serving_default input: names ['question', 'story'], expected ['text']; "
        "serving_default output: names ['answer', 'score'], expected ['score', 'translation']; "
        "no signature 'n_best'"
    }


@pytest.mark.usefixtures("here")
def test_wrong_answers_fail_their_row(copy):
    folder, path = copy
    first, *others = change_examples(path)["answer"]
    change_examples(path, answer=["another", *others])
    assert failed(check_export(folder)) == {
        "expected": f"answer of question 0: {first!r}, expected 'another'"
    }


@pytest.mark.parametrize(
    "changed", [{"answer": ["a", "b"]}, {"question": "a"}, {"story": [1, 2, 3, 4, 5]}]
)
def test_broken_examples_fail_the_row_of_answers(copy, changed):
    folder, path = copy
    change_examples(path, **changed)
    report = check_export(folder)
    assert [row.name for row in report.rows] == ["files", "expected"]
    assert failed(report)["expected"].startswith(f"{path}: expected the description of an export")
    with pytest.raises(ValueError, match="one answer for each of its examples"):
        read_description(folder)


def test_scores_that_depend_on_the_batch_fail_their_rows(copy, here):
    def with_size(signature, inputs, outputs):
        return {**outputs, "score": np.full_like(outputs["score"], -len(inputs["story"]))}

    here.change = staticmethod(with_size)
    wrong = failed(check_export(copy[0]))
    assert wrong.keys() == {"batch_of_one", "odd_inputs"}
    assert wrong["batch_of_one"] == "score of question 0: -1, expected -5"
    assert wrong["odd_inputs"].startswith(
        "no text as story, alone: score of question 0: -1, expected -24; only spaces as"
    )


@pytest.mark.parametrize(
    ("output", "value", "problem"),
    [
        ("answer", b"\xff", "is not UTF-8: b'\\xff'"),
        ("score", -np.inf, "is not finite: -inf"),
    ],
)
def test_odd_inputs_fail_their_row(copy, here, output, value, problem):
    def odd(signature, inputs, outputs):
        if len(inputs["story"]) == 24:
            outputs[output][2] = value
        return outputs

    here.change = staticmethod(odd)
    detail = f"serving_default: {output} of question 2 {problem}"
    assert failed(check_export(copy[0])) == {"odd_inputs": detail}


def test_warmup_requests_are_replayed_with_their_inputs(copy, here):
    request, asked = {"story": [b"a\nb", b"\xff"], "question": [b"c?", b""]}, []

    def note(signature, inputs, outputs):
        asked.append((signature, inputs))
        return outputs

    here.change = staticmethod(note)
    folder, _ = copy
    write_warmup(folder, encode_warmup_request(WarmupRequest("serving_default", request), "qa"))
    report = check_export(folder)
    assert details(report)["warmup"] == "1 requests answered, for serving_default"
    assert asked[-1] == ("serving_default", request)

    misnamed = {"story": [b"a"], "query": [b"b"]}
    write_warmup(folder, encode_warmup_request(WarmupRequest("serving_default", misnamed), "qa"))
    assert failed(check_export(folder)) == {
        "warmup": "Expected the inputs ['question', 'story'] of the signature 'serving_default'. "
        "Received: inputs=['query', 'story']"
    }


def test_other_outputs_in_python_fail_their_row(story_folder, here):
    def untrue(signature, inputs, outputs):
        return {**outputs, "score": outputs["score"] + np.float32(0.01)}

    here.change = staticmethod(untrue)
    wrong = failed(check_export(story_folder))
    assert wrong.keys() == {"python"}
    assert wrong["python"].startswith("serving_default score of question 0: ")


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
