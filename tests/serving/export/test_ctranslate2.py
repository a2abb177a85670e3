import hashlib
import json
import os
import shutil
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.data import builtin_corpus
from kerasnmt.decoding import SearchOptions
from kerasnmt.layers import LayerNormalization, MultiHeadSelfAttention, PostNorm
from kerasnmt.models import Ensemble
from kerasnmt.serving import (
    ExportModule,
    Translator,
    check_export,
    export_ctranslate2,
    load_ctranslate2,
)
from kerasnmt.serving.export.ctranslate2_session import CTranslate2Session
from kerasnmt.text import CharacterTokenizer, WordTokenizer

FILES = ["config.json", "kerasnmt.json", "model.bin", "shared_vocabulary.json", "tokenizers.json"]
OPTIONS = {"beam_size": 5, "length_penalty": 0.6, "max_length": 80}
SEARCHES = {
    "greedy": {"beam_size": 1, "max_length": 80},
    "length": {**OPTIONS, "length_normalization": "length"},
    "wu": OPTIONS,
    "no penalty": {**OPTIONS, "length_penalty": 0.0},
}
TEXTS = [pair.source for pair in builtin_corpus(100, "test")]


@pytest.fixture(scope="module")
def model():
    return zoo.from_preset("tatoeba_en_fr_transformer")


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ctranslate2") / "parent" / "en_fr"
    assert export_ctranslate2(model, folder, **OPTIONS) == str(folder)
    return folder


@pytest.mark.parametrize("name", SEARCHES)
def test_it_translates_as_the_model(model, name, tmp_path):
    options = SEARCHES[name]
    found = Translator(load_ctranslate2(export_ctranslate2(model, tmp_path / "e", **options)))
    expected = Translator(ExportModule(model, **options)).best(TEXTS)
    differing = 0
    for one, other in zip(found.best(TEXTS), expected, strict=True):
        # Without padding and start in the softmax, scores are slightly larger.
        assert -1e-4 < one[1] - other[1] < 0.01 or one[0] != other[0]
        if one[0] != other[0]:  # a tie, or a better translation
            assert one[1] > other[1] - 1e-4
            differing += 1
    assert differing <= 1
    assert len({text for text, _ in expected}) > 90


def test_int8(model, folder, tmp_path):
    small = Path(export_ctranslate2(model, tmp_path / "int8", weights="int8", **OPTIONS))
    sizes = [(path / "model.bin").stat().st_size for path in (small, folder)]
    assert sizes[0] < 0.3 * sizes[1]
    translator = Translator(load_ctranslate2(small))
    assert translator.description["weights"] == "int8"
    exact = Translator(load_ctranslate2(folder)).translate(TEXTS)
    pairs = zip(translator.translate(TEXTS), exact, strict=True)
    assert 80 <= sum(one == other for one, other in pairs) < 100


def test_attention(model, folder):
    """The weights of a batch are those of the model, for the first token too."""
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


TINY = {"units": 8, "num_heads": 2, "hidden_units": 12, "encoder_layers": 2, "decoder_layers": 3}
WORDS = ["a", "dog", "man", "two", "dogs", "run", "runs", "reads", ".", "▁"]
VARIANTS = {
    "pre-norm": {},
    "post-norm, one layer": {"pre_norm": False, "encoder_layers": 1, "decoder_layers": 1},
    "learned positions": {"max_positions": 12},
    "own output layer": {"tie_embeddings": False},
}


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("name", [*VARIANTS, "two vocabularies"])
def test_variants_of_a_transformer(name, tmp_path, sentences):
    """Every weight has its place: the translations of random weights are those of the model."""
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
    assert len({*found}) > 4
    found, expected = (one.signatures["attention"](text=texts) for one in (served, module))
    np.testing.assert_array_equal(found["target_tokens"], expected["target_tokens"])
    np.testing.assert_allclose(found["weights"], expected["weights"], atol=1e-4)


def test_odd_texts(folder, model):
    translator = Translator(load_ctranslate2(folder))
    assert translator.best([]) == []
    assert translator.best(["", " \n"]) == [("", 0.0)] * 2
    # The text `</s>` is not the end token.
    texts = ["I see </s> you", "<blank> <s>", "\x00 dog ☃", "<unk>"]
    assert translator.translate(texts) == model.translate(texts, **OPTIONS)
    with pytest.warns(UserWarning, match=r"text 2 has \d+ tokens and was truncated to 80"):
        translator.translate(["dog", "dog " * 100])


def test_threads(folder):
    translator = Translator(load_ctranslate2(folder))
    expected, found = translator.translate(TEXTS[:20]), [None] * 4

    def ask(place):
        found[place] = translator.translate(TEXTS[:20])

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_the_folder(folder, model):
    assert sorted(os.listdir(folder)) == FILES
    assert os.listdir(folder.parent) == [folder.name]
    assert folder.stat().st_mode & 0o777 == 0o755
    description = json.loads((folder / "kerasnmt.json").read_text())
    examples, files = description.pop("examples"), description.pop("files")
    assert description == {
        "inputs": ["text"],
        "model": "transformer_tiny",
        **asdict(SearchOptions(**OPTIONS)),
        "replace_unknown": False,
        "weights": "float32",
        "source_kind": "sentencepiece",
        "target_kind": "sentencepiece",
    }
    assert examples["translation"] == model.translate(examples["text"], **OPTIONS)
    assert files == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in FILES
        if name != "kerasnmt.json"
    }


def test_session(folder):
    texts = [b"I see you.", b""]
    with CTranslate2Session(folder) as session:
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


def test_check(folder, tmp_path):
    report = check_export(folder)
    assert report.passed, str(report)
    assert [row.name for row in report.rows] == [
        *("ctranslate2", "load", "signatures", "requests", "n_best", "attention"),
        *("batch_of_one", "odd_inputs", "expected", "latency", "memory"),
    ]
    assert report.rows[1].detail.startswith("loaded with CTranslate2, ")
    other = shutil.copytree(folder, tmp_path / "other")
    description = (other / "kerasnmt.json").read_text()
    (other / "kerasnmt.json").write_text(description.replace("chiens", "chats"))
    rows = {row.name: row for row in check_export(other).rows}
    assert [name for name, row in rows.items() if not row.passed] == ["expected"]
    (other / "model.bin").write_bytes(b"weights")
    row = check_export(other).rows[-1]
    assert (row.name, row.passed) == ("load", False) and "model.bin is damaged" in row.detail
    (other / "kerasnmt.json").unlink()
    (row,) = check_export(other).rows
    assert (row.name, row.passed) == ("ctranslate2", False) and "without kerasnmt" in row.detail


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
        ValueError, match=r"that export_ctranslate2 wrote.*without tokenizers\.json and kerasnmt"
    ):
        load_ctranslate2(tmp_path)


def test_without_its_package(folder, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    message = r"the package ctranslate2.*Install it: pip install 'kerasnmt\[ctranslate2\]'"
    with pytest.raises(ValueError, match=message):
        load_ctranslate2(folder)
    with pytest.raises(ValueError, match=message):
        export_ctranslate2(model, tmp_path / "e")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"samples": 2}, "Expected samples=0, the only value for CTranslate2. Received: samples=2"),
        ({"coverage_penalty": 0.2}, "coverage_penalty=0.0.*Received: coverage_penalty=0.2"),
        ({"max_length_ratio": 2.0}, "max_length_ratio=None.*Received: max_length_ratio=2.0"),
        ({"min_length": 3}, "min_length=1.*Received: min_length=3"),
        ({"no_repeat_ngram": 3}, "no_repeat_ngram=0.*Received: no_repeat_ngram=3"),
        ({"beam_size": 0}, "beam_size from 1 to 1000.*beam_size=0"),
        ({"weights": "float16"}, "one of float32, int8 for CTranslate2. Received: weights='float1"),
    ],
)
def test_options_that_are_refused(model, tmp_path, wrong, message):
    with pytest.raises(ValueError, match=message):
        export_ctranslate2(model, tmp_path / "e", **wrong)
    assert os.listdir(tmp_path) == []


def tiny(**options):
    return zoo.transformer_tiny(WordTokenizer(["a"]), **TINY, **options)


def replaced(what):
    model = tiny()
    layer = model.encoder.layers[0]
    if what == "post-norm in a layer":
        layer.residuals[1] = PostNorm()
    elif what == "no last normalization":
        model.decoder.normalization = None
    elif what == "causal":
        layer.attention = MultiHeadSelfAttention(8, 2, causal=True)
    elif what == "heads":
        layer.attention = MultiHeadSelfAttention(8, 4)
    elif what == "epsilon":
        model.encoder.normalization = LayerNormalization(epsilon=1e-3)
    return model


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: zoo.bahdanau_gru(WordTokenizer(["a"]), units=2, embedding_dim=2), "RecurrentEnc"),
        (
            lambda: zoo.pointer_generator_gru(WordTokenizer(["a"]), units=2, embedding_dim=2),
            r"pointer_generator_gru \(RecurrentEncoder\)",
        ),
        (
            lambda: zoo.show_attend_tell_lstm(WordTokenizer(["a"]), image_size=32, units=2),
            r"show_attend_tell_lstm \(ImageEncoder\)",
        ),
        (lambda: Ensemble([tiny(), tiny()]), r"\(Ensemble\)"),
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


def test_too_few_positions(tmp_path):
    with pytest.raises(ValueError, match=r"at most 20 words.*Received: 100 words"):
        export_ctranslate2(tiny(max_positions=20), tmp_path / "e")
    export_ctranslate2(tiny(max_positions=20), tmp_path / "e", max_length=20)


def test_half_precision(tmp_path):
    """The export computes in float32."""
    keras.config.set_dtype_policy("mixed_float16")
    try:
        model = tiny()
    finally:
        keras.config.set_dtype_policy("float32")
    export_ctranslate2(model, tmp_path / "e", max_length=5)
    assert Translator(load_ctranslate2(tmp_path / "e")).translate([""]) == [""]


def test_two_tokens_with_one_text(tmp_path, monkeypatch):
    model = tiny()
    written = np.array([b"", b"<unk>", b"<s>", b"</s>", b"<s>"], object)
    monkeypatch.setattr(
        model.source_tokenizer, "tokens", lambda ids: keras.ops.convert_to_tensor([*written])
    )
    with pytest.raises(ValueError, match=r"different texts.*a vocabulary with '<s>' twice"):
        export_ctranslate2(model, tmp_path / "e")


def test_existing_folder(model, tmp_path):
    with pytest.raises(ValueError, match=r"does not exist\. .*Export to another directory"):
        export_ctranslate2(model, tmp_path)
