import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import in_float32
from kerasnmt.serving import (
    ExportModule,
    Translator,
    check_export,
    export_lite,
    load_lite,
)
from kerasnmt.serving.runtimes.litert import export as litert
from kerasnmt.serving.runtimes.litert.runtime import LiteRTRuntime
from kerasnmt.text import WordTokenizer
from tests.numerics import dtype_policy, fill
from tests.serving.conftest import description_of

pytestmark = pytest.mark.usefixtures("eagerly")

OPTIONS = {"beam_size": 3, "length_penalty": 0.6, "max_length": 10}
OTHERS = (
    *("bahdanau_gru", "hard_attention_lstm", "hard_monotonic_lstm", "history_attention_gru"),
    *("luong_general_lstm", "transformer_tiny", "location-sensitive", "monotonic", "chunkwise"),
    *("cgru", "transformer_tiny with SSRU", "transformer_tiny with average attention"),
)
thorough = pytest.mark.thorough("converts one model more, or another search")


@pytest.fixture(scope="module")
def models(word_model, make_pointer_model):
    """Tiny models, by kind."""
    words = word_model.source_tokenizer
    small = {"embedding_dim": 6, "units": 6, "dropout": 0.0}
    transformer = zoo.transformer_tiny(
        words,
        **{"units": 8, "num_heads": 2, "hidden_units": 8, "encoder_layers": 1, "decoder_layers": 2},
        dropout=0.0,
        attention_dropout=0.0,
        tie_embeddings=False,
    )
    sizes = {"units": 8, "num_heads": 2, "hidden_units": 8, "dropout": 0.0}
    transformers = {
        "transformer_tiny": transformer,
        "transformer_tiny with SSRU": zoo.transformer_tiny(words, decoder="ssru", **sizes),
        "transformer_tiny with average attention": zoo.transformer_tiny(
            words, decoder="average_attention", **sizes
        ),
    }
    for seed, model in zip((8, 16, 15), transformers.values(), strict=True):
        rng = np.random.default_rng(seed)
        for weight in model.weights:
            if len(weight.shape) == 2:  # random norms would make all words alike
                weight.assign(1.3 * rng.normal(size=weight.shape))
    deep = {"layer_normalization": True, "num_layers": 2, "transitions": 3, "attention": "gaussian"}
    attentions = {
        name: fill(zoo.bahdanau_gru(words, attention=kind, **small), 5, 1.3)
        for name, kind in {
            "location-sensitive": "location_sensitive",
            "monotonic": "monotonic",
            "chunkwise": "chunkwise",
        }.items()
    }
    return {
        **transformers,
        **attentions,
        "cgru": fill(zoo.cgru(words, **small, **deep), 5, 1.3),
        "bahdanau_gru": word_model,
        "hard_attention_lstm": fill(zoo.hard_attention_lstm(words, **small), 3, 1.3),
        "hard_monotonic_lstm": fill(zoo.hard_monotonic_lstm(words, order=1, **small), 6, 1.3),
        "history_attention_gru": fill(zoo.history_attention_gru(words, **small), 5, 1.3),
        "luong_general_lstm": fill(zoo.luong_general_lstm(words, **small), 4, 1.3),
        "pointer_generator_gru": make_pointer_model(seed=56),
    }


@pytest.fixture(scope="module")
def lite(word_model, tmp_path_factory):
    directory = tmp_path_factory.mktemp("lite") / "parent" / "en_de"
    assert export_lite(word_model, directory, **OPTIONS) == str(directory)
    return directory


def test_an_empty_batch(lite):
    empty = load_lite(lite).function("serving_default")(text=[])
    assert empty["translation"].shape == empty["score"].shape == (0,)


@pytest.mark.parametrize("beam_size", [1, pytest.param(3, marks=thorough)])
@pytest.mark.parametrize(
    "name",
    [
        "pointer_generator_gru",
        *(pytest.param(name, marks=thorough) for name in OTHERS),
    ],
)
def test_it_translates_as_the_model(models, name, beam_size, sentences, tmp_path):
    model, options = models[name], {**OPTIONS, "beam_size": beam_size}
    # Words outside the vocabulary, of which one stands twice.
    texts = [*sentences, "zeb runs . zeb and anna run .", "anna zeb a zeb"]
    folder = Path(export_lite(model, tmp_path / "lite", **options))
    assert b"Flex" not in (folder / "model.tflite").read_bytes()
    found = Translator(load_lite(folder)).best(texts)
    expected = Translator(ExportModule(model, **options)).best(texts)
    assert [text for text, _ in found] == [text for text, _ in expected]
    scores = [[score for _, score in best] for best in (found, expected)]
    np.testing.assert_allclose(*scores, atol=1e-4)
    assert len({text for text, _ in found}) > 4
    if model.copies:
        assert any("zeb" in text for text, _ in found)


def test_a_model_that_reads_images_is_refused(tmp_path):
    tokenizer = WordTokenizer(["a", "dog"])
    model = zoo.show_attend_tell_lstm(tokenizer, image_size=32, embedding_dim=4, units=3)
    with pytest.raises(ValueError, match=r"that translates for LiteRT.*lstm, which reads image"):
        export_lite(model, tmp_path / "lite")
    assert not (tmp_path / "lite").exists()


def test_the_folder(lite, word_model):
    assert sorted(os.listdir(lite)) == ["kerasnmt.json", "model.tflite", "tokenizers.json"]
    assert os.listdir(lite.parent) == [lite.name]
    assert lite.stat().st_mode & 0o777 == 0o755
    description = json.loads((lite / "kerasnmt.json").read_text())
    examples = description.pop("examples")
    assert [*examples] == ["text", "translation"] and len(examples["text"]) > 3
    assert examples["translation"] == word_model.translate(examples["text"], **OPTIONS)
    assert description == description_of("bahdanau_gru", "words", "characters", **OPTIONS)
    tokenizers = json.loads((lite / "tokenizers.json").read_text())
    assert [*tokenizers] == ["source", "target"]
    copy = keras.saving.deserialize_keras_object(tokenizers["target"])
    assert copy.get_config() == word_model.target_tokenizer.get_config()


def test_core(lite, word_model):
    """Any LiteRT interpreter can run the core, with ids as inputs and outputs."""
    run = litert._interpreter(str(lite / "model.tflite")).get_signature_runner()
    for ids in ([[5, 6, 3]], [[5, 6, 7, 8, 4, 3]]):
        ids = np.array(ids, "int32")
        found = run(source_ids=ids)
        expected = word_model.search(ids, **OPTIONS)
        np.testing.assert_array_equal(found["ids"], expected.ids[:, 0])
        np.testing.assert_allclose(found["score"], expected.scores[:, 0], atol=1e-4)


def test_odd_texts(lite, word_model):
    translator = Translator(load_lite(lite))
    assert translator.best([]) == []
    assert translator.best(["", " \n"]) == [("", 0.0)] * 2
    with pytest.warns(UserWarning, match="text 2 has 21 tokens and was truncated to 10"):
        found = translator.translate(["dog", "dog " * 20])
    assert found == word_model.translate(["dog", "dog " * 9], **OPTIONS)
    assert translator.translate(["\x00 dog \udfff".encode("utf-8", "replace").decode()]) != [""]


def test_only_the_best_translation_is_there(lite):
    translator = Translator(load_lite(lite))
    with pytest.raises(ValueError, match="one without the signature 'n_best'"):
        translator.n_best(["dog"])
    with pytest.raises(ValueError, match="one without the signature 'attention'"):
        translator.attention(["dog"])


@pytest.mark.thorough("checks another runtime, as test_ctranslate2.py")
def test_check(lite):
    report = check_export(lite)
    assert report.passed, str(report)
    assert [row.name for row in report.rows] == [
        *("files", "load", "signatures", "requests", "batch_of_one", "odd_inputs", "expected"),
    ]
    assert report.rows[1].detail.startswith("loaded with LiteRT, ")
    assert report.rows[2].detail == "serving_default"
    assert report.rows[-1].detail.endswith(" translations as expected")


def test_threads_take_turns(lite, word_model):
    texts = ["dog", "a man runs .", "two dogs run .", "a"] * 4
    with LiteRTRuntime().open(lite) as session, ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda text: session.run("serving_default", {"text": [text]}), texts)
        found = [answer["translation"][0].decode() for answer in answers]
    assert found == word_model.translate(texts, **OPTIONS)


def test_without_its_package(lite, word_model, tmp_path, monkeypatch):
    for name in ("ai_edge_litert", "ai_edge_litert.interpreter"):
        monkeypatch.setitem(sys.modules, name, None)
    message = r"the package ai_edge_litert.*Install it: pip install 'kerasnmt\[litert\]'"
    with pytest.raises(ModuleNotFoundError, match=message):
        load_lite(lite)
    monkeypatch.setattr(litert, "_core", lambda *_: b"core")  # is not run
    folder = export_lite(word_model, tmp_path / "lite", **OPTIONS)
    assert "examples" not in json.loads(Path(folder, "kerasnmt.json").read_text())


@pytest.mark.thorough("converts two models more; test_stored_weights.py tests small weights")
@pytest.mark.parametrize(
    ("kind", "saved"),
    [
        ("int8", 0.65),
        ("float16", 0.45),
    ],
)
def test_small_weights(tmp_path, kind, saved):
    tokenizer = WordTokenizer([f"w{number}" for number in range(60)])
    model = zoo.bahdanau_gru(tokenizer, embedding_dim=64, units=64, dropout=0.0)
    texts = ["w1 w2 w3", "w50 w2", "w7"]
    options = {"beam_size": 1, "max_length": 4}
    sizes, scores = {}, {}
    for weights in ("float32", kind):
        folder = Path(export_lite(model, tmp_path / weights, weights=weights, **options))
        sizes[weights] = (folder / "model.tflite").stat().st_size
        translator = Translator(load_lite(folder))
        assert translator.description["weights"] == weights
        scores[weights] = np.array([score for _, score in translator.best(texts)])
    exact = [score for _, score in Translator(ExportModule(model, **options)).best(texts)]
    assert np.abs(scores["float32"] - exact).max() < 1e-5
    # The rounding has a small effect.
    assert 1e-6 < np.abs(scores[kind] - exact).max() < 0.05
    assert sizes[kind] < sizes["float32"] - saved * 4 * model.count_params()


def test_bad_arguments_leave_nothing(word_model, tmp_path):
    (tmp_path / "there").mkdir()
    for wrong, message in (
        ({"beam_size": 0}, "beam_size from 1 to 1000.*beam_size=0"),
        ({"max_length": 1}, "max_length >= 2.*max_length=1"),
        ({"weights": "int4"}, r"one of float32, float16, int8\. Received: weights='int4'"),
    ):
        with pytest.raises(ValueError, match=message):
            export_lite(word_model, tmp_path / "new", **wrong)
    with pytest.raises(
        ValueError, match=r"does not exist\. .*there'\. Export to another directory"
    ):
        export_lite(word_model, tmp_path / "there")
    assert os.listdir(tmp_path) == ["there"] and not os.listdir(tmp_path / "there")


@pytest.mark.parametrize(
    "option", ["replace_unknown", "split_sentences", "split_words", "sentence_case"]
)
def test_options_that_the_core_does_not_have(tmp_path, option):
    model = zoo.bahdanau_gru(WordTokenizer(["a"]), embedding_dim=2, units=2)
    with pytest.raises(ValueError, match=f"Expected no {option} for LiteRT"):
        export_lite(model, tmp_path / "lite", **{option: True})
    assert not any(tmp_path.iterdir())


def test_half_precision_is_refused(tmp_path):
    with dtype_policy("mixed_float16"):
        model = zoo.bahdanau_gru(WordTokenizer(["a"]), embedding_dim=2, units=2)
    with pytest.raises(ValueError, match=r"computes in float32.*compute_dtype='float16'"):
        export_lite(model, tmp_path / "lite")
    assert os.listdir(tmp_path) == []
    assert in_float32(model).compute_dtype == "float32"  # as the message says


def test_folders_that_hold_something_else(lite, tmp_path):
    with pytest.raises(ValueError, match=r"without model\.tflite and tokenizers\.json and kera"):
        load_lite(tmp_path)
    (tmp_path / "model.tflite").touch()
    with pytest.raises(ValueError, match=r"for LiteRT\..*without tokenizers\.json and kerasnmt"):
        load_lite(tmp_path)
    for path in lite.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "model.tflite").write_bytes(b"something else")
    with pytest.raises(ValueError):
        load_lite(tmp_path)


@pytest.mark.parametrize(("name", "size"), [("tokenizers.json", 10), ("kerasnmt.json", 1)])
def test_damaged_files(lite, tmp_path, name, size):
    folder = shutil.copytree(lite, tmp_path / "lite")
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:size])
    with pytest.raises(ValueError, match=rf"^{folder}: the export cannot be loaded: ."):
        load_lite(folder)
    (folder / name).write_bytes(whole)
    load_lite(folder)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_midway_leaves_nothing(word_model, tmp_path, monkeypatch, error):
    def write_text(path, *arguments, **options):
        assert (path.parent / "model.tflite").read_bytes() == b"core"
        raise error

    monkeypatch.setattr(litert, "_core", lambda *_: b"core")
    monkeypatch.setattr(Path, "write_text", write_text)
    with pytest.raises(type(error)):
        export_lite(word_model, tmp_path / "en_de")
    assert os.listdir(tmp_path) == []


def test_folder_made_meanwhile_is_not_overwritten(word_model, tmp_path, monkeypatch):
    monkeypatch.setattr(litert, "_core", lambda *_: (tmp_path / "en_de").mkdir() or b"core")
    with pytest.raises(ValueError, match="does not exist"):
        export_lite(word_model, tmp_path / "en_de")
    assert os.listdir(tmp_path) == ["en_de"] and not os.listdir(tmp_path / "en_de")
