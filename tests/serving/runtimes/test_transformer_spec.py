import os

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.layers import PostNorm, Softmax
from kerasnmt.models import Ensemble
from kerasnmt.serving import ExportModule, Translator, export_ctranslate2, load_ctranslate2
from kerasnmt.serving.runtimes.ctranslate2.transformer_spec import transformer_spec
from kerasnmt.text import CharacterTokenizer, WordTokenizer
from tests.numerics import dtype_policy

TINY = {"units": 8, "num_heads": 2, "hidden_units": 12, "encoder_layers": 2, "decoder_layers": 3}
WORDS = ["a", "dog", "man", "two", "dogs", "run", "runs", "reads", ".", "▁"]
VARIANTS = {
    "pre-norm": {},
    "post-norm, one layer": {"pre_norm": False, "encoder_layers": 1, "decoder_layers": 1},
    "learned positions": {"max_positions": 12},
    "own output layer": {"tie_embeddings": False},
}

thorough = pytest.mark.thorough("another form of the model")


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=thorough) for name in VARIANTS), "two vocabularies"]
)
def test_variants_of_a_transformer(name, tmp_path, sentences):
    """Every weight is in place: an export of random weights translates like the model."""
    target = CharacterTokenizer([*"abcdefgh ."]) if name == "two vocabularies" else None
    options = {**TINY, **VARIANTS.get(name, {})}
    model = zoo.transformer_tiny(WordTokenizer(WORDS), target, **options)
    rng = np.random.default_rng(3)
    for weight in model.weights:
        weight.assign(rng.normal(size=weight.shape) + weight.path.endswith("gamma"))
    search = {"beam_size": 1, "max_length": 12}
    served = load_ctranslate2(export_ctranslate2(model, tmp_path / "e", **search))
    module = ExportModule(model, **search)
    texts = [*sentences, "zeb runs . zeb", "dogs"]
    found, expected = (Translator(one).translate(texts) for one in (served, module))
    assert found == expected
    assert len({*found}) > 2
    found, expected = (one.signatures["attention"](text=texts) for one in (served, module))
    np.testing.assert_array_equal(found["target_tokens"], expected["target_tokens"])
    np.testing.assert_allclose(found["weights"], expected["weights"], atol=1e-4)


def tiny(**options):
    return zoo.transformer_tiny(WordTokenizer(["a"]), **TINY, **options)


def replaced(what):
    model = tiny()
    layer = model.encoder.layers[0]
    if what == "post-norm in a layer":
        layer.residuals[1].__class__ = PostNorm
    elif what == "no last normalization":
        model.decoder.normalization = None
    elif what == "causal":
        layer.attention.causal = True
    elif what == "heads":
        layer.attention.num_heads = 4
    elif what == "epsilon":
        model.encoder.normalization.epsilon = 1e-3
    return model


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: zoo.bahdanau_gru(WordTokenizer(["a"]), units=2, embedding_dim=2), "RecurrentEnc"),
        pytest.param(
            lambda: zoo.pointer_generator_gru(WordTokenizer(["a"]), units=2, embedding_dim=2),
            r"pointer_generator_gru \(RecurrentEncoder\)",
            marks=thorough,
        ),
        (
            lambda: zoo.show_attend_tell_lstm(WordTokenizer(["a"]), image_size=32, units=2),
            r"show_attend_tell_lstm \(ImageEncoder\)",
        ),
        pytest.param(lambda: Ensemble([tiny(), tiny()]), r"\(Ensemble\)", marks=thorough),
        (lambda: tiny(decoder="ssru"), r"\(SSRU\)"),
        (
            lambda: zoo.transformer_tiny(WordTokenizer(["<V>"]), **TINY, tags="sum"),
            r"transformer_tiny \(TagFeatures\)",
        ),
        (lambda: replaced("post-norm in a layer"), r"\(PostNorm\)"),
        (lambda: replaced("no last normalization"), r"\(NoneType\)"),
    ],
)
def test_other_models_are_refused(make, message, tmp_path):
    with pytest.raises(ValueError, match=f"Expected a Transformer .*Received: .*{message}"):
        export_ctranslate2(make(), tmp_path / "e")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("what", "message"),
    [("causal", "causal=True"), ("heads", "heads .*4"), ("epsilon", r"epsilons .*0\.001")],
)
def test_other_layers_are_refused(what, message, tmp_path):
    with pytest.raises(ValueError, match=f"one number of heads and one epsilon.*{message}"):
        export_ctranslate2(replaced(what), tmp_path / "e")


@pytest.mark.parametrize("what", ["entmax15", "temperature", "loss"])
def test_other_normalizers_are_refused(what, tmp_path):
    normalizers = {"entmax15": "entmax15", "temperature": Softmax(temperature=2.0)}
    model = tiny(normalizer=normalizers.get(what, "softmax"))
    if what == "loss":
        model.compile(loss="sparsemax")
    with pytest.raises(ValueError, match=r"attentions and output use the softmax.*Received"):
        export_ctranslate2(model, tmp_path / "e")


def test_too_few_positions(tmp_path):
    with pytest.raises(ValueError, match=r"at most 20 words.*Received: 100 words"):
        export_ctranslate2(tiny(max_positions=20), tmp_path / "e")
    export_ctranslate2(tiny(max_positions=20), tmp_path / "e", max_length=20)


def test_half_precision(tmp_path):
    """The export computes in float32."""
    with dtype_policy("mixed_float16"):
        model = tiny()
    export_ctranslate2(model, tmp_path / "e", max_length=5)
    assert Translator(load_ctranslate2(tmp_path / "e")).translate([""]) == [""]
    positions = (transformer_spec(one, 5).encoder.position_encodings for one in (model, tiny()))
    np.testing.assert_array_equal(*(one.encodings.numpy() for one in positions))


def test_two_tokens_with_one_text(tmp_path, monkeypatch):
    model = tiny()
    written = np.array([b"", b"<unk>", b"<s>", b"</s>", b"<s>"], object)
    monkeypatch.setattr(
        model.source_tokenizer, "tokens", lambda ids: keras.ops.convert_to_tensor([*written])
    )
    with pytest.raises(ValueError, match=r"different texts.*a vocabulary with '<s>' twice"):
        export_ctranslate2(model, tmp_path / "e")
