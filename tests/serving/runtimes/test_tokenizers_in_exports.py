"""Exports with tokenizers of every kind, in every place, by every loader."""

import itertools
from pathlib import Path

import pytest
import tensorflow as tf
from tensorflow_text.python.ops.sentencepiece_tokenizer import gen_sentencepiece_tokenizer

from kerasnmt import zoo
from kerasnmt.models import Seq2Seq
from kerasnmt.serving import ExportModule, Translator, export_lite, load_export, load_lite
from kerasnmt.serving.protocol.meta_graph import MetaGraph
from kerasnmt.serving.runtimes.saved_model.export import load_saved_model
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession
from kerasnmt.text import CharacterTokenizer, SentencePieceTokenizer, WordTokenizer
from kerasnmt.text import sentencepiece_tokenizer as pieces
from tests.serving.conftest import only_signatures
from tests.zoo.tiny_models import make

ENGLISH = ["the dog sleeps", "a red cat drinks tea", "the cat sees a dog", "two dogs drink"]
JAPANESE = ["犬が寝る", "赤い猫がお茶を飲む", "猫が犬を見る", "二匹の犬が飲む"]
TEXTS = [*ENGLISH, "", "naïve 猫 🙂"]
CONTEXTS = ["a red dog", "", "the tea", "zoo", "a cat", "two"]
OPTIONS = {"beam_size": 2, "max_length": 7, "min_length": 3}
KINDS = ("sentencepiece", "words", "characters")
thorough = pytest.mark.thorough("another model or pair of tokenizers")


@pytest.fixture(scope="module")
def tokenizers():
    """Two different tokenizers of each kind."""
    sides = {"source": ENGLISH, "target": JAPANESE}
    sizes = {"source": 23, "target": 22}
    words = {"source": ENGLISH, "target": ["犬 が 寝る", "猫 が 飲む"]}
    return {
        "sentencepiece": {
            side: SentencePieceTokenizer.train(text * 9, sizes[side])
            for side, text in sides.items()
        },
        "words": {side: WordTokenizer.train(text, 40) for side, text in words.items()},
        "characters": {
            side: CharacterTokenizer.train(text, 40, normalization="nfd")
            for side, text in sides.items()
        },
    }


@pytest.fixture(autouse=True)
def one_signature():
    with only_signatures("serving_default"):
        yield


def without_name(resource):
    """Load a model as earlier versions did in exports."""
    return gen_sentencepiece_tokenizer.sentencepiece_op(model=resource._model)


def save_both(tokenizers, path):
    """Write a SavedModel that turns ids into text with each of two tokenizers."""
    module = tf.Module()
    module.tokenizers = tokenizers
    module.texts = tf.function(
        lambda ids: [one.detokenize(ids) for one in tokenizers],
        input_signature=[tf.TensorSpec([None, None], tf.int32)],
    )
    tf.saved_model.save(module, path)


def test_tokenizers_keep_their_names(tokenizers, tmp_path, monkeypatch):
    both = [*tokenizers["sentencepiece"].values()]
    ids = tf.constant([[5, 8, 11, 9]])
    expected = [one.detokenize(ids).numpy()[0] for one in both]
    assert expected[0] != expected[1]
    save_both(both, str(tmp_path / "new"))
    loaded = load_saved_model(tmp_path / "new")
    assert [text.numpy()[0] for text in loaded.texts(ids)] == expected
    same = SentencePieceTokenizer.from_config(both[0].get_config())
    monkeypatch.setattr(pieces._Model, "_create_resource", without_name)
    save_both(both, str(tmp_path / "old"))
    with pytest.raises(ValueError, match=r"distinct names\. Received: .*old, .* Export the model"):
        load_saved_model(tmp_path / "old")
    # Without different models, there is nothing to confuse.
    save_both([both[0], same], str(tmp_path / "equal"))
    loaded = load_saved_model(tmp_path / "equal")
    assert [text.numpy()[0] for text in loaded.texts(ids)] == [expected[0]] * 2


def answers(version, columns):
    """Return the translations of an export in a session of the C API."""
    with SavedModelSession(version) as session:
        found = session.run("serving_default", columns)["translation"]
    return [answer.decode() for answer in found]


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("count", [1, pytest.param(2, marks=thorough)])
def test_exports_of_two_tokenizers_in_one_process(tokenizers, tmp_path, count):
    both, options = [*tokenizers["sentencepiece"].values()], {**OPTIONS, "beam_size": 1}
    models = [make("encoder_decoder_gru", *sides) for sides in (both, both[::-1])][:count]
    expected = [model.translate(TEXTS, **options) for model in models]
    assert len({*map(tuple, expected)}) == count
    for number, model in enumerate(models):
        model.export(str(tmp_path / f"{number}" / "1"), **options)
    loaded = [Translator(load_export(tmp_path / f"{number}")) for number in range(count)]
    assert [translator.translate(TEXTS) for translator in loaded] == expected
    assert answers(tmp_path / "0" / "1", {"text": TEXTS}) == expected[0]


@pytest.mark.thorough("traces two models; a module without names is refused by the first test too")
def test_an_export_that_answers_otherwise_is_not_written(tokenizers, tmp_path, monkeypatch):
    model = make("bahdanau_gru", *tokenizers["sentencepiece"].values())
    with monkeypatch.context() as patched:
        patched.setattr(pieces._Model, "_create_resource", without_name)
        with pytest.raises(ValueError, match="distinct names"):
            model.export(str(tmp_path / "1"), **OPTIONS)
    given = {"text": ["the dog"], "translation": ["another"]}
    monkeypatch.setattr(ExportModule, "examples", lambda self: given)
    with pytest.raises(ValueError, match=r"answers as the model does\. .* gives 'another'\."):
        model.export(str(tmp_path / "1"), **OPTIONS)
    assert [*tmp_path.iterdir()] == []


def try_every_loader(model, folder: Path, *, lite: bool):
    """Compare the model with its exports."""
    columns = {"text": TEXTS} | ({"context": CONTEXTS} if model.reads_context else {})
    contexts = columns.get("context")
    given = {} if contexts is None else {"contexts": contexts}
    expected = model.translate(TEXTS, **given, **OPTIONS)
    assert len({*expected}) > 1
    version = Path(model.export(str(folder / "served" / "1"), **OPTIONS))
    assert not MetaGraph.from_saved_model(version).collides
    assert Translator(load_export(version)).translate(TEXTS, **given) == expected
    assert answers(version, columns) == expected
    if lite:
        small = load_lite(export_lite(model, folder / "lite", **OPTIONS))
        assert Translator(small).translate(TEXTS, **given) == expected
    try:
        from kerasnmt.serving.bulk import ExportHandler
    except ImportError:
        return
    handler = ExportHandler(version)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = handler.run_inference(rows, handler.load_model())
    assert [row["translation"] for row in found] == expected


@thorough
@pytest.mark.parametrize("name", zoo.list_models(Seq2Seq))
@pytest.mark.parametrize("kind", KINDS)
def test_every_model_with_two_tokenizers_of_a_kind(name, kind, tokenizers, tmp_path):
    # Models that copy have one tokenizer for both sides, so `make` gives them only the first.
    model = make(name, *tokenizers[kind].values())
    try_every_loader(model, tmp_path, lite=kind == "sentencepiece")


@thorough
@pytest.mark.parametrize(("source", "target"), itertools.product(KINDS, KINDS))
def test_every_pair_of_kinds(source, target, tokenizers, tmp_path):
    model = make("bahdanau_gru", tokenizers[source]["source"], tokenizers[target]["target"])
    try_every_loader(model, tmp_path, lite=True)
