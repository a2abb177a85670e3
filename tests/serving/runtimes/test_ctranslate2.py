import hashlib
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.data import builtin_corpus
from kerasnmt.serving import (
    ExportModule,
    Translator,
    check_export,
    export_ctranslate2,
    load_ctranslate2,
)
from kerasnmt.serving.runtimes.session import ServedModelSession
from tests.serving.conftest import description_of, failed

FILES = ["config.json", "kerasnmt.json", "model.bin", "shared_vocabulary.json", "tokenizers.json"]
OPTIONS = {"beam_size": 5, "length_penalty": 0.6, "max_length": 80}
SEARCHES = {
    "greedy": {"beam_size": 1, "max_length": 80},
    "length": {**OPTIONS, "length_normalization": "length"},
    "wu": OPTIONS,
    "no penalty": {**OPTIONS, "length_penalty": 0.0},
}
thorough = pytest.mark.thorough("translates fifty sentences with one search more")
TEXTS = [pair.source for pair in builtin_corpus(50, "test")]


@pytest.fixture(scope="module")
def model():
    """The preset without search options of its own."""
    model = zoo.from_preset("tatoeba_en_fr_transformer")
    model.search_options = {}
    return model


@pytest.fixture(scope="module")
def exact(model):
    """The model with the options of the folder."""
    return Translator(ExportModule(model, **OPTIONS))


@pytest.fixture(scope="module")
def best(folder):
    """The translations and scores of the folder."""
    return Translator(load_ctranslate2(folder)).best(TEXTS)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ctranslate2") / "parent" / "en_fr"
    assert export_ctranslate2(model, folder, **OPTIONS) == str(folder)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "wu",
        *(pytest.param(name, marks=thorough) for name in ("greedy", "length", "no penalty")),
    ],
)
def test_it_translates_as_the_model(model, exact, best, name, tmp_path):
    if name != "wu":
        options = SEARCHES[name]
        folder = export_ctranslate2(model, tmp_path / "e", **options)
        best = Translator(load_ctranslate2(folder)).best(TEXTS)
        exact = Translator(ExportModule(model, **options))
    expected = exact.best(TEXTS)
    differing = 0
    for one, other in zip(best, expected, strict=True):
        # Without padding and start in the softmax, scores are slightly larger.
        assert -1e-4 < one[1] - other[1] < 0.01 or one[0] != other[0]
        if one[0] != other[0]:  # a tie, or a better translation
            assert one[1] > other[1] - 1e-4
            differing += 1
    assert differing <= 2
    assert len({text for text, _ in expected}) > 45


def test_int8(model, folder, best, tmp_path):
    small = Path(export_ctranslate2(model, tmp_path / "int8", weights="int8", **OPTIONS))
    sizes = [(path / "model.bin").stat().st_size for path in (small, folder)]
    assert sizes[0] < 0.3 * sizes[1]
    translator = Translator(load_ctranslate2(small))
    assert translator.description["weights"] == "int8"
    pairs = zip(translator.translate(TEXTS), best, strict=True)
    assert 40 <= sum(one == other for one, (other, _) in pairs) < 50


@pytest.mark.thorough("test_transformer_spec.py compares the weights of a tiny model")
def test_attention(model, folder):
    """The weights of a batch equal the model's, for the first token too."""
    found = load_ctranslate2(folder).signatures["attention"](text=[*TEXTS[:6], ""])
    expected = ExportModule(model, **OPTIONS).signatures["attention"](text=[*TEXTS[:6], ""])
    for key, values in found.items():
        if key == "weights":
            np.testing.assert_allclose(values, expected[key], atol=1e-4)
        else:
            np.testing.assert_array_equal(values, expected[key])


def test_n_best(folder):
    served = load_ctranslate2(folder)
    best = served.signatures["serving_default"](text=["I see you.", "", "Go!"])
    ranked = served.signatures["n_best"](text=["I see you.", "", "Go!"])
    assert ranked["translations"].shape == ranked["scores"].shape == (3, 5)
    np.testing.assert_array_equal(ranked["translations"][:, 0], best["translation"])
    np.testing.assert_array_equal(ranked["scores"][:, 0], best["score"])
    assert (np.diff(ranked["scores"]) <= 0).all()
    assert ranked["translations"][1].tolist() == [b""] * 5
    assert ranked["scores"][1].tolist() == [0.0, *[-1e9] * 4]
    for row in (0, 2):
        assert len({*ranked["translations"][row].tolist()}) == 5  # no text twice
    assert served.signatures["n_best"](text=[])["translations"].shape == (0, 5)


def test_odd_texts(folder, exact):
    translator = Translator(load_ctranslate2(folder))
    assert translator.best([]) == []
    assert translator.best(["", " \n"]) == [("", 0.0)] * 2
    # The text `</s>` is not the end token.
    texts = ["I see </s> you", "<blank> <s>", "\x00 dog ☃", "<unk>"]
    assert translator.translate(texts) == exact.translate(texts)
    with pytest.warns(UserWarning, match=r"text 2 has \d+ tokens and was truncated to 80"):
        translator.translate(["dog", "dog " * 100])


def test_threads(folder, best):
    translator = Translator(load_ctranslate2(folder))
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(translator.translate, [TEXTS[:8]] * 4)]
    assert found == [[text for text, _ in best[:8]]] * 4


def test_the_folder(folder, exact):
    assert sorted(os.listdir(folder)) == FILES
    assert os.listdir(folder.parent) == [folder.name]
    assert folder.stat().st_mode & 0o777 == 0o755
    description = json.loads((folder / "kerasnmt.json").read_text())
    examples, files = description.pop("examples"), description.pop("files")
    assert description.pop("calibration")["pairs"] == 300
    assert description == description_of(
        "transformer_tiny", "sentencepiece", "sentencepiece", **OPTIONS
    )
    assert examples["translation"] == exact.translate(examples["text"])
    assert files == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in FILES
        if name != "kerasnmt.json"
    }


def test_session(folder):
    texts = [b"I see you.", b""]
    with ServedModelSession(load_ctranslate2(folder)) as session:
        assert [*session.signatures] == ["serving_default", "n_best", "attention"]
        inputs, outputs = session.signatures["attention"]
        assert (inputs["text"].dtype, inputs["text"].shape) == ("string", [-1])
        assert {name: (info.dtype, info.shape) for name, info in outputs.items()} == {
            "source_tokens": ("string", [-1, -1]),
            "target_tokens": ("string", [-1, -1]),
            "weights": ("float32", [-1, -1, -1]),
        }
        found = session.run("serving_default", {"text": np.array(texts, object)})
    assert found["translation"].tolist() == [b"Je vous vois.", b""]


@pytest.mark.usefixtures("served_here")
def test_check(folder, tmp_path):
    report = check_export(folder)
    assert report.passed, str(report)
    assert [row.name for row in report.rows] == [
        *("files", "load", "signatures", "requests", "n_best", "attention"),
        *("batch_of_one", "odd_inputs", "expected"),
    ]
    assert report.rows[1].detail.startswith("loaded with CTranslate2, ")
    other = shutil.copytree(folder, tmp_path / "other")
    description = (other / "kerasnmt.json").read_text()
    (other / "kerasnmt.json").write_text(description.replace("chiens", "chats"))
    assert failed(check_export(other)).keys() == {"expected"}
    (other / "kerasnmt.json").unlink()
    (row,) = check_export(other).rows
    assert (row.name, row.passed) == ("files", False) and "without kerasnmt" in row.detail


def test_check_of_damaged_weights(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "model.bin").write_bytes(b"weights")
    row = check_export(other).rows[-1]
    assert (row.name, row.passed) == ("load", False) and "model.bin is damaged" in row.detail


@pytest.mark.parametrize("name", FILES)
def test_damaged_files(folder, tmp_path, name):
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    whole = (damaged / name).read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for data in (b"", whole[: len(whole) // 2], bytes(flipped)):
        (damaged / name).write_bytes(data)
        with pytest.raises(ValueError, match=rf"^{damaged}: the export cannot be loaded: ."):
            load_ctranslate2(damaged)
    (damaged / name).unlink()
    with pytest.raises(ValueError):
        load_ctranslate2(damaged)
    (damaged / name).write_bytes(whole)
    load_ctranslate2(damaged)


def test_a_folder_of_others(tmp_path):
    (tmp_path / "model.bin").touch()
    with pytest.raises(
        ValueError, match=r"an export for CTranslate2\..*without tokenizers\.json and kerasnmt"
    ):
        load_ctranslate2(tmp_path)


def test_without_its_package(folder, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    message = r"the package ctranslate2.*Install it: pip install 'kerasnmt\[ctranslate2\]'"
    with pytest.raises(ModuleNotFoundError, match=message):
        load_ctranslate2(folder)
    with pytest.raises(ModuleNotFoundError, match=message):
        export_ctranslate2(model, tmp_path / "e")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"samples": 2}, "Expected samples=0, the only value for CTranslate2. Received: samples=2"),
        ({"coverage_penalty": 0.2}, "coverage_penalty=0.0.*Received: coverage_penalty=0.2"),
        ({"max_length_ratio": 2.0}, "max_length_ratio=None.*Received: max_length_ratio=2.0"),
        ({"min_length": 3}, "min_length=1.*Received: min_length=3"),
        ({"split_words": True}, "split_words=False.*Received: split_words=True"),
        ({"lexicon": {"a": "b"}}, "lexicon=False.*Received: lexicon=True"),
        ({"no_repeat_ngram": 3}, "no_repeat_ngram=0.*Received: no_repeat_ngram=3"),
        ({"beam_size": 0}, "beam_size from 1 to 1000.*beam_size=0"),
        ({"weights": "float16"}, "one of float32, int8 for CTranslate2. Received: weights='float1"),
    ],
)
def test_options_that_are_refused(model, tmp_path, wrong, message):
    with pytest.raises(ValueError, match=message):
        export_ctranslate2(model, tmp_path / "e", **wrong)
    assert os.listdir(tmp_path) == []


def test_existing_folder(model, tmp_path):
    with pytest.raises(ValueError, match=r"does not exist\. .*Export to another directory"):
        export_ctranslate2(model, tmp_path)
