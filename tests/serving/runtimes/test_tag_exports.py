"""Exports of models that read tags as features, in each runtime."""

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.runtime import load
from kerasnmt.serving import Translator, export_lite, export_onnx, load_export, load_lite
from kerasnmt.text import CharacterTokenizer, WordTokenizer
from tests.numerics import fill
from tests.serving.runtimes.onnx_models import OPTIONS, SIZES, TRANSFORMER

thorough = pytest.mark.thorough("another model, or another runtime")
TEXTS = ["<v><w>ab", "<w><v>ab", "a<v>b<w>", "ab", "<v> <w>", "b <v> a", "", "<v>bab<w>a"]


def make(name):
    source, target = CharacterTokenizer(["a", "<v>", "b", " ", "<w>"]), WordTokenizer(list("abcd"))
    if name == "transformer_tiny":
        sizes = {**TRANSFORMER, "encoder_layers": 1, "decoder_layers": 1}
        model = zoo.transformer_tiny(source, target, **sizes, tags="sum")
    else:
        model = zoo.get_model(name)(source, target, **SIZES, tags="concat")
    return fill(model, 5, scale=1.3)


MODELS = pytest.mark.parametrize(
    "name", ["bahdanau_gru", pytest.param("transformer_tiny", marks=thorough)]
)


def check(translator, model):
    expected = model.translate(TEXTS, **OPTIONS)
    assert translator.translate(TEXTS) == expected
    assert expected[0] == expected[1] and len({*expected}) > 2


@MODELS
def test_onnx(name, tmp_path):
    model = make(name)
    export_onnx(model, tmp_path / "e", **OPTIONS)
    loaded = load(tmp_path / "e")
    check(loaded, model)
    targets = ["a b", "c", "d a", "b", "", "a", "b", "c"]
    np.testing.assert_allclose(loaded.score(TEXTS, targets), model.score(TEXTS, targets), rtol=1e-4)


@thorough
@MODELS
def test_lite(name, tmp_path):
    model = make(name)
    export_lite(model, tmp_path / "e", **OPTIONS)
    check(Translator(load_lite(tmp_path / "e")), model)


@thorough
@MODELS
def test_saved_model(name, tmp_path):
    model = make(name)
    model.export(tmp_path / "1", **OPTIONS)
    check(Translator(load_export(tmp_path / "1")), model)
