"""Captioning models and memory networks answer with ONNX Runtime as with TensorFlow."""

import json
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest

from kerasnmt import zoo
from kerasnmt.cli.loading import SearchChanges, load_translator
from kerasnmt.runtime import load, load_onnx
from kerasnmt.runtime.onnx_graphs import OnnxGraph
from kerasnmt.serving import check_export, export_onnx
from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.tasks import task_of
from kerasnmt.text import PlainWordTokenizer, WordTokenizer
from tests.numerics import fill
from tests.serving.runtimes.onnx_models import CAPTION_OPTIONS, FILES, odd_stories

pytestmark = pytest.mark.usefixtures("eagerly")

thorough = pytest.mark.thorough("converts one model more")
RNG = np.random.default_rng(3)


def check_equal(ours, theirs, atol=1e-4):
    """Check that outputs are equal: texts exactly, and numbers to a tolerance."""
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        found, expected = np.asarray(ours[name]), np.asarray(expected)
        if expected.dtype == object:
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=atol)


def check_signatures(model, folder, columns, **options):
    """Check the answers to the rows of a request, in one batch and alone."""
    ours, theirs = load_onnx(folder).signatures, task_of(model, **options).exported
    assert ours.keys() == theirs.keys()
    for name, function in ours.items():
        expected = theirs[name](*columns.values())
        check_equal(function(**columns), expected)
        for row in range(0, len(columns[model.request_fields[0]]), 5):
            alone = {field: values[row : row + 1] for field, values in columns.items()}
            check_equal(function(**alone), theirs[name](*alone.values()))
        none = function(**{field: [] for field in columns})
        assert all(len(values) == 0 for values in none.values())


def test_captions(captions):
    odd = CaptionContract().odd_values["image"].values()
    check_signatures(*captions, {"image": [*FILES, *odd]}, **CAPTION_OPTIONS)
    found = load(captions[1]).ask({"image": [*FILES, b"two dogs"]})
    assert len({caption for caption, _ in found}) > 2 and found[-1] == ("", 0.0)


def test_captions_of_arrays_and_other_options(captions):
    model, folder = captions
    arrays = RNG.integers(0, 256, (3, 8, 8, 3), "uint8")
    for options in ({"beam_size": 1}, {"samples": 3, "seed": 5}):
        expected = model.caption(arrays, **{**CAPTION_OPTIONS, **options})
        assert load(folder, **options).caption(arrays) == expected
    changed = load_translator(folder, SearchChanges(1), translates=False)
    assert changed.description["beam_size"] == 1
    with pytest.raises(ValueError, match=r"with image, which this model reads\. Received: text\."):
        load(folder).translate(["two dogs"])


def test_the_search_for_captions_in_one_graph(captions):
    model, folder = captions
    session = onnxruntime.InferenceSession(f"{folder}/search.onnx")
    images = RNG.integers(0, 256, (3, 8, 8, 3)).astype("float32")
    ids, scores = session.run(["ids", "scores"], {"images": images})
    expected = model.search({"images": images}, n_best=3, **CAPTION_OPTIONS)
    np.testing.assert_array_equal(ids, expected.ids[:, :, : ids.shape[2]])
    np.testing.assert_allclose(scores, expected.scores, atol=1e-4)


def test_answers(answers):
    check_signatures(*answers, odd_stories())
    columns = odd_stories()
    found = load(answers[1]).ask(columns)
    assert len({answer for answer, _ in found}) > 3 and ("", 0.0) in found
    stories, questions = [["Mary went home.", "John\nwent away."], []], ["Where is Mary?", "Who?"]
    assert load(answers[1]).answer(stories, questions) == answers[0].answer(stories, questions)


def test_the_weights_of_the_hops(answers):
    ids = np.array([[[4, 6, 7], [5, 6, 0]], [[4, 8, 0], [0, 0, 0]]], "int32")
    inputs = {"story_ids": ids, "question_ids": np.array([[9, 4], [10, 0]], "int32")}
    found = OnnxGraph(f"{answers[1]}/answer.onnx")(inputs)
    log_probabilities, weights = answers[0].inspect(inputs)
    check_equal(found, {"log_probabilities": log_probabilities, "weights": weights}, atol=1e-5)


@pytest.mark.parametrize("places", [pytest.param(places, marks=thorough) for places in (None, 9)])
def test_other_memory_networks(places, tmp_path):
    options = {"temporal_encoding": False, "tying": "layerwise", "encoding": "bag_of_words"}
    words, answers = PlainWordTokenizer(list("abcd")), WordTokenizer(["x", "y", "z"])
    model = zoo.memory_network(words, answers, embedding_dim=5, hops=2, **options)
    fill(model, scale=0.7)
    model.places = model.hop.places = places
    model.hop.linear.assign(places is None)
    folder = export_onnx(model, tmp_path / "onnx", max_words=2)
    check_signatures(model, folder, odd_stories(), max_words=2)


@pytest.mark.parametrize("kind", ["captions", "answers"])
def test_the_check_passes(kind, request):
    folder = request.getfixturevalue(kind)[1]
    report = check_export(folder)
    assert report.passed, str(report)
    assert {row.name for row in report.rows} >= {"odd_inputs", "expected"}


def test_smaller_weights(answers, tmp_path):
    small = export_onnx(answers[0], tmp_path / "int8", weights="int8")
    columns = {"story": ["mary went"], "question": ["where"]}
    (one,), (other,) = (load(path).ask(columns) for path in (answers[1], small))
    assert one[0] == other[0] and one[1] == pytest.approx(other[1], abs=0.05)


def test_what_a_model_that_does_not_search_refuses(answers, tmp_path):
    model, folder = answers
    message = r"no options of the search, because memory_network does not search\. Received: "
    with pytest.raises(ValueError, match=f"{message}beam_size$"):
        load(folder, beam_size=3)
    with pytest.raises(ValueError, match=f"{message}max_length=4$"):
        load_translator(folder, SearchChanges(search=["max_length=4"]), translates=False)
    with pytest.raises(ValueError, match=r"that does not search\. Received: whole=True with mem"):
        export_onnx(model, tmp_path / "onnx", whole=True)
    assert not (tmp_path / "onnx").exists()


def test_neither_tensorflow_nor_keras_is_imported(captions, answers):
    program = (
        "import sys, numpy, json; from kerasnmt.runtime import load; "
        "captions, answers = (load(folder) for folder in sys.argv[1:]); "
        "image = numpy.arange(192, dtype='uint8').reshape(8, 8, 3); "
        "found = captions.caption([image, b'']), answers.answer([['Mary went.']], ['Where?']); "
        "print(json.dumps(found)); assert not {'tensorflow', 'keras', 'typer'} & {*sys.modules}"
    )
    command = [sys.executable, "-c", program, captions[1], answers[1]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    image = np.arange(192, dtype="uint8").reshape(8, 8, 3)
    expected = captions[0].caption([image, b""], **CAPTION_OPTIONS)
    assert json.loads(done.stdout) == [expected, answers[0].answer([["Mary went."]], ["Where?"])]
