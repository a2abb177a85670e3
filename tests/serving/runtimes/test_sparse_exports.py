"""Exports of models with sparse attention and sparse output, in each runtime."""

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.layers import Softmax
from kerasnmt.runtime import load
from kerasnmt.serving import Translator, export_lite, export_onnx, load_export, load_lite
from kerasnmt.text import WordTokenizer
from tests.conftest import WORDS
from tests.numerics import fill
from tests.serving.runtimes.onnx_models import OPTIONS, SIZES, TEXTS, TRANSFORMER

thorough = pytest.mark.thorough("another model, or another runtime")
MODELS = {
    "entmax15": lambda words: zoo.bahdanau_gru(words, **SIZES, normalizer="entmax15"),
    "sparsemax": lambda words: zoo.luong_local_p_lstm(words, **SIZES, normalizer="sparsemax"),
    "heads": lambda words: zoo.transformer_tiny(words, **TRANSFORMER, normalizer="entmax15"),
    "temperature": lambda words: zoo.bahdanau_gru(
        words, **SIZES, normalizer=Softmax(temperature=0.5)
    ),
}
LOSSES = {"entmax15": "entmax15", "sparsemax": "sparsemax"}


def make(name):
    model = fill(MODELS[name](WordTokenizer(WORDS)), 56, scale=1.3)
    model.compile(loss=LOSSES.get(name))
    return model


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "entmax15" else thorough) for name in MODELS]
)
def test_onnx(name, tmp_path):
    model = make(name)
    export_onnx(model, tmp_path / "e", **OPTIONS)
    loaded = load(tmp_path / "e")
    assert loaded.translate(TEXTS) == model.translate(TEXTS, **OPTIONS)
    np.testing.assert_allclose(loaded.score(TEXTS, TEXTS), model.score(TEXTS, TEXTS), rtol=1e-4)


@thorough
@pytest.mark.parametrize("name", LOSSES)
def test_lite(name, tmp_path):
    model = make(name)
    export_lite(model, tmp_path / "e", **OPTIONS)
    loaded = Translator(load_lite(tmp_path / "e"))
    assert loaded.translate(TEXTS) == model.translate(TEXTS, **OPTIONS)


@thorough
def test_saved_model(tmp_path):
    model = make("sparsemax")
    model.export(tmp_path / "1", **OPTIONS)
    loaded = Translator(load_export(tmp_path / "1"))
    assert loaded.translate(TEXTS) == model.translate(TEXTS, **OPTIONS)
