"""Starts of a run: from a preset, and after an interruption."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from rich.console import Console

from kerasnmt.models import Seq2Seq
from kerasnmt.text import WordTokenizer
from kerasnmt.training import Recipe, RunFolder, train
from kerasnmt.training.prepared import prepare
from kerasnmt.training.starts import FurtherStart, NewStart, PresetStart, ResumedStart
from kerasnmt.training.tokenizers import save_tokenizers, tokenizers_of
from kerasnmt.zoo import bahdanau_gru, get_preset


def recipe(training=None, **model):
    return Recipe.from_dict(
        {
            "model": {"name": "bahdanau_gru", "units": 4, "embedding_dim": 3, **model},
            "tokenizer": {"source": {"kind": "words"}, "target": {"kind": "words"}},
            "data": {"train": {"builtin": 20}, "validation": {"builtin": 2}},
            "training": training or {},
        }
    )


@pytest.fixture(scope="module")
def trained():
    """A model that tests must not change."""
    return bahdanau_gru(
        WordTokenizer(["a", "dog", "."]), WordTokenizer(["ein", "Hund"]), units=4, embedding_dim=3
    )


@pytest.fixture(scope="module")
def preset(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("presets") / "tiny"
    return trained.save_to_preset(folder, weights="float32")


def prepared(preset, tmp_path, recipe):
    console = Console(quiet=True)
    run = RunFolder(tmp_path / "run")
    return prepare(PresetStart(recipe, run, console, get_preset(preset)))


def test_it_begins_with_the_weights_and_the_tokenizers(preset, trained, tmp_path):
    training = prepared(preset, tmp_path, recipe(dropout=0.5))
    pairs = zip(training.model.get_weights(), trained.get_weights(), strict=True)
    assert all(np.array_equal(*pair) for pair in pairs)
    assert training.model.source_tokenizer.tokenize(["dog ."]).to_list() == [[5, 6]]
    assert training.model.target_tokenizer.vocabulary_size == 6
    assert list(training.tokenizers) == ["source", "target"]


@pytest.fixture
def begun(monkeypatch):
    """The weights and the normalizer of the output at each call of `fit`, which is interrupted."""
    begun = []

    def fit(self, *_, **options):
        begun.append((self.get_weights(), self.decoder.generator.normalizer))
        raise KeyboardInterrupt

    monkeypatch.setattr(Seq2Seq, "fit", fit)
    return begun


def interrupted(recipe, output, **options):
    with pytest.raises(KeyboardInterrupt):
        train(recipe, output, **options)


def test_an_interruption_in_the_first_epoch_keeps_the_weights(preset, trained, tmp_path, begun):
    run = RunFolder(tmp_path / "run")
    for resume in (False, True):
        interrupted(recipe(), run.path, init_from=preset, resume=resume)
    for weights, _ in begun:
        pairs = zip(weights, trained.get_weights(), strict=True)
        assert all(np.array_equal(*pair) for pair in pairs)


def test_logs_on_a_full_disk(tmp_path, monkeypatch):
    """The error of TensorFlow's writer becomes that of Python, in one line."""

    def fit(self, *_, **options):
        raise tf.errors.ResourceExhaustedError(None, None, message)

    monkeypatch.setattr(Seq2Seq, "fit", fit)
    message = "logs/events; No space left on device"
    with pytest.raises(OSError, match=r"No space left on device: '.*/run'"):
        train(recipe(), tmp_path / "run")
    message = "OOM when allocating tensor"
    with pytest.raises(tf.errors.ResourceExhaustedError):
        train(recipe(), tmp_path / "other")


def test_the_loss_of_the_trained_model_is_kept(trained, tmp_path, begun):
    """The recipe of the run has it, so that a resumed run keeps it too."""
    entmax = trained.from_config(trained.get_config())
    entmax.compile(loss="entmax15")
    preset = entmax.save_to_preset(tmp_path / "preset", weights="float32")
    earlier, run = RunFolder(tmp_path / "earlier"), RunFolder(tmp_path / "run")
    earlier.path.mkdir()
    recipe({"loss": "entmax15"}).save(earlier.recipe)
    save_tokenizers(earlier.tokenizers, tokenizers_of(entmax))
    entmax.save(earlier.model)
    interrupted(recipe(), run.path, init_from=earlier.path)
    interrupted(recipe(), run.path, resume=True)
    assert [normalizer for _, normalizer in begun] == ["entmax15"] * 2
    assert Recipe.load(run.recipe).training.loss == "entmax15"
    for loss, kept in ((None, "entmax15"), ("cross_entropy", "cross_entropy")):
        assert prepared(preset, tmp_path, recipe({"loss": loss})).recipe.training.loss == kept


def test_a_shared_tokenizer(trained, tmp_path):
    words = WordTokenizer(["a", "dog"])
    folder = bahdanau_gru(words, units=4, embedding_dim=3).save_to_preset(tmp_path / "shared")
    document = recipe().model_dump(mode="json", exclude_none=True)
    document["tokenizer"] = {"shared": {"kind": "words"}}
    training = prepared(folder, tmp_path, Recipe.from_dict(document))
    assert list(training.tokenizers) == ["shared"]
    assert training.model.source_tokenizer is training.model.target_tokenizer
    with pytest.raises(
        ValueError, match=r"Expected the kinds of tokenizers of .*: \{'shared': 'words'\}"
    ):
        prepared(folder, tmp_path, recipe())


def test_another_model_than_that_of_a_run_is_refused(trained, tmp_path):
    """Dropout rates may differ, and so may a keyword that is left out."""
    earlier, console = RunFolder(tmp_path / "earlier"), Console(quiet=True)
    earlier.path.mkdir()
    recipe().save(earlier.recipe)
    save_tokenizers(earlier.tokenizers, tokenizers_of(trained))
    trained.save(earlier.model)

    def begin(recipe):
        return prepare(FurtherStart(recipe, RunFolder(tmp_path / "run"), console, earlier))

    assert begin(recipe(dropout=0.3, num_layers=1)).recipe.model.keywords["dropout"] == 0.3
    document = recipe().model_dump(mode="json", exclude_none=True)
    document["tokenizer"]["target"]["vocabulary_size"] = 50
    for other, error in (
        (recipe(units=5), r"the model\.units of the run to start from, \S+: 4\. Received: 5\. Ch"),
        (Recipe.from_dict(document), r"the tokenizer\.target\.vocabulary_size of .*None\. Rec.*50"),
    ):
        with pytest.raises(ValueError, match=error):
            begin(other)
    recipe(units=6).save(earlier.recipe)  # its model has others
    with pytest.raises(ValueError, match=r"the value of \S+ of the run .*: 4\. Received: 6\. Chan"):
        begin(recipe(units=6))


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ({"name": "bahdanau_lstm"}, r"Expected the model.name of the preset to start from, .*_gru"),
        (
            {"units": 5},
            r"Expected the value of \S+ of the preset to start from, .*: \d+\. Received: \d+\.",
        ),
        pytest.param(
            *({"num_layers": 2}, r"Expected the value of config\.encoder\S+ of the preset"),
            marks=pytest.mark.thorough("another value of the config"),
        ),
        pytest.param(
            *({"tie_embeddings": True}, r"Expected the value of config\.decoder\S+ of the preset"),
            marks=pytest.mark.thorough("another value of the config"),
        ),
    ],
)
def test_another_model_is_refused(preset, tmp_path, model, error):
    """The error comes before anything is written."""
    with pytest.raises(ValueError, match=error):
        train(recipe(**model), tmp_path / "run", init_from=preset)
    assert not (tmp_path / "run").exists()


def test_a_preset_with_frozen_layers(tmp_path):
    words = WordTokenizer(["a", "dog"])
    frozen = bahdanau_gru(words, words, units=4, embedding_dim=3)
    frozen.encoder.trainable = False
    folder = frozen.save_to_preset(tmp_path / "frozen")
    document = recipe().model_dump(mode="json", exclude_none=True)
    document["tokenizer"] = {"shared": {"kind": "words"}}
    assert prepared(folder, tmp_path, Recipe.from_dict(document)).model.encoder.trainable


def test_no_run_replaces_a_preset(preset, tmp_path):
    before = {path: path.read_bytes() for path in Path(preset).iterdir()}
    for init_from in (None, preset):
        with pytest.raises(
            ValueError, match=r"output folder without a preset\. Received: .*, a preset"
        ):
            train(recipe(), preset, init_from=init_from)
    assert {path: path.read_bytes() for path in Path(preset).iterdir()} == before


def test_unknown_places(tmp_path):
    with pytest.raises(
        ValueError, match=r"a run, or a preset, .* Received: tatoeba_xy, which is neither"
    ):
        train(recipe(), tmp_path / "run", init_from="tatoeba_xy")
    with pytest.raises(ValueError, match=r"with a trained model\. Received: .*has no model\.keras"):
        train(recipe(), tmp_path / "run", init_from=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_tokenizer_of_bleu_stays_in_the_run(tmp_path):
    """It suits the validation data, not the training data, and a resumed run keeps it."""
    (tmp_path / "validation.tsv").write_text("a dog .\t这是一只狗。\n" * 2, encoding="utf-8")
    document = recipe().model_dump(mode="json", exclude_none=True)
    document["data"]["validation"] = {"pairs": str(tmp_path / "validation.tsv")}
    new, run, console = Recipe.from_dict(document), RunFolder(tmp_path), Console(quiet=True)
    training = prepare(NewStart(new, run, console))
    assert training.recipe.training.bleu_tokenizer == "zh"
    assert new.training.bleu_tokenizer is None

    training.recipe.save(run.recipe)
    run.write_text(run.tokenizers, "")
    resumed = ResumedStart(new, run, console)
    resumed.check()
    assert resumed.bleu_tokenizer(["a dog ."]) == "zh"
    document["training"] = {"bleu_tokenizer": "char"}
    with pytest.raises(ValueError, match=r"where training\.bleu_tokenizer is 'zh'; only"):
        ResumedStart(Recipe.from_dict(document), run, console).check()

    new.save(run.recipe)  # as earlier versions did
    resumed.check()
    assert resumed.bleu_tokenizer(["这是一只狗。"]) == "13a"
