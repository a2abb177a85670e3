import io
import json
import shutil
import warnings
from typing import NamedTuple

import keras
import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from kerasnmt import viz
from kerasnmt.alignment import format_pharaoh
from kerasnmt.calibration import Calibration
from kerasnmt.cli.loading import load_run
from kerasnmt.data import builtin_corpus
from kerasnmt.layers import Entmax15
from kerasnmt.models import Seq2Seq
from kerasnmt.training import (
    BestModel,
    DivergenceCheck,
    Recipe,
    RunFolder,
    TrainingProgress,
    train,
    translation_scores,
)
from kerasnmt.training.prepared import prepare
from kerasnmt.training.starts import NewStart

pytestmark = [
    pytest.mark.long("trains a recipe, interrupts and resumes it"),
    pytest.mark.filterwarnings("ignore:text .* was truncated"),
]
RESULTS = {
    *("model", "parameters", "seed", "test", "bleu", "bleu_signature", "chrf", "chrf_signature"),
    "exact",
    *("perplexity", "train_seconds", "train_cpu_seconds", "epochs", "target_tokens_per_second"),
    *("history", "early_stopping", "calibration"),
}


CHECKPOINTS = ["epoch_0001_batch_00000000.npz", "epoch_0001_batch_00000003.npz"]


def recipe(**training):
    # With these numbers the second and the third epoch have different scores above 0.
    tokenizer = {"kind": "words", "vocabulary_size": 200}
    return Recipe.from_dict(
        {
            "model": {"name": "luong_dot_lstm", "units": 8, "embedding_dim": 8},
            "tokenizer": {"shared": tokenizer},
            "data": {
                "train": {"builtin": 60},
                "validation": {"builtin": 8},
                "test": {"builtin": 3},
            },
            "training": {
                "epochs": 3,
                "tokens_per_batch": 1000,
                "learning_rate": 0.05,
                "checkpoint_every": 3,
                **training,
            },
            "search": {"beam_size": 2, "max_length": 12},
        }
    )


def small_document():
    """Return a recipe for tests of what happens before the first step, with little data."""
    document = recipe().model_dump(mode="json", exclude_none=True)
    document["data"] = {"train": {"builtin": 20}, "validation": {"builtin": 4}}
    document["search"]["beam_size"] = 1
    return document


class Training(NamedTuple):
    """Results of training: its folder, history, output and scores."""

    run: RunFolder
    history: list
    output: str
    results: dict | None = None


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Training without an interruption, and training that resumes from a copy of its folder.

    The folder is copied in the second epoch. The first run ends with its last epoch, before
    its model is scored. Instead of figures, which take long, images are black.
    """
    whole, resumed = (RunFolder(tmp_path_factory.mktemp("runs") / name) for name in ("one", "two"))
    output = io.StringIO()
    batch_ends, epoch_ends = (
        TrainingProgress.on_train_batch_end,
        TrainingProgress.on_epoch_end,
    )

    def copy_the_run(self, batch, logs=None):
        epochs = len(records(whole)) if whole.history.exists() else 0
        if (epochs, batch) == (1, 4):
            shutil.copytree(whole.path, resumed.path)
        batch_ends(self, batch, logs)

    def stop(self, epoch, logs=None):
        epoch_ends(self, epoch, logs)
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # Keras warns like this of an epoch with too few batches.
        warnings.filterwarnings("error", "Your input ran out of data")
        patch.setattr(viz, "attention_figure", lambda *_, **options: None)
        patch.setattr(viz, "figure_to_image", lambda _: np.zeros((2, 2, 3), "uint8"))
        with patch.context() as other:
            other.setattr(TrainingProgress, "on_train_batch_end", copy_the_run)
            other.setattr(TrainingProgress, "on_epoch_end", stop)
            with pytest.raises(KeyboardInterrupt):
                train(recipe(), whole.path, console=Console(file=output))
        assert not whole.results.exists()
        first = Training(whole, records(whole), output.getvalue())
        assert sorted(path.name for path in resumed.checkpoints.glob("*")) == CHECKPOINTS
        output = io.StringIO()
        results = train(recipe(), resumed.path, resume=True, console=Console(file=output))
    return first, Training(resumed, records(resumed), output.getvalue(), results)


def records(run):
    return [json.loads(line) for line in run.history.read_text().splitlines()]


@pytest.fixture(scope="module")
def whole(runs):
    """The run without an interruption."""
    return runs[0]


@pytest.fixture(scope="module")
def finished(runs):
    """The run that was interrupted in its second epoch and resumed."""
    return runs[1]


@pytest.fixture(scope="module")
def best_model(finished):
    """The best model of the resumed run."""
    return keras.saving.load_model(finished.run.model, compile=False)


def rank(scores):
    return scores["val_bleu"], -scores["val_loss"]


def best_epoch(results):
    return max(results["history"], key=rank)


def test_results(finished):
    run, results = finished.run, finished.results
    assert set(results) == RESULTS
    assert json.loads(run.results.read_text()) == results
    assert (results["model"], results["seed"], results["test"]) == ("luong_dot_lstm", 1, "test")
    assert results["epochs"] == 3
    assert results["target_tokens_per_second"] > 0


def test_an_interruption_changes_nothing(finished, whole):
    """Because the model has dropout, the random numbers must be equal, not only the batches."""
    names = ("loss", "perplexity", "val_loss", "val_perplexity", "val_bleu", "val_chrf")
    assert finished.history[-1]["val_bleu"] > finished.history[1]["val_bleu"] > 0
    for found, expected in zip(finished.history, whole.history, strict=True):
        for name in names:
            assert found[name] == pytest.approx(expected[name], rel=1e-4), name


@pytest.mark.thorough("trains a second run, from the model of a first one")
def test_a_trained_model_is_trained_further(finished, tmp_path, monkeypatch):
    run = finished.run
    before = keras.saving.load_model(run.model, compile=False)
    begun = []
    fit_of_keras = Seq2Seq.fit

    def fit(self, *arguments, **options):
        begun.append(self.get_weights())
        return fit_of_keras(self, *arguments, **options)

    monkeypatch.setattr(Seq2Seq, "fit", fit)
    further = recipe(epochs=2, learning_rate=0.001, average_epochs=2, early_stopping=5)
    results = train(further, tmp_path / "run", init_from=run.path)
    for weight, expected in zip(begun[0], before.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, expected)
    assert results["history"][0]["loss"] < finished.results["history"][0]["loss"]
    assert (tmp_path / "run" / "tokenizer.json").read_bytes() == run.tokenizers.read_bytes()

    # The average of both epochs is scored, and kept if it is better.
    average = results["average"]
    assert (average["epochs"], results["early_stopping"]) == (2, False)
    best = best_epoch(results)
    assert average["kept"] == (rank(average) > rank(best))
    files = [f"epoch_000{number}_batch_00000000.npz" for number in (1, 2)]
    model = keras.saving.load_model(tmp_path / "run" / "model.keras", compile=False)
    kept, epochs = model.get_weights()[0], []
    for file in files:
        arrays = np.load(tmp_path / "run" / "checkpoints" / file).values()
        epochs.append(next(array for array in arrays if array.shape == kept.shape))
    assert any(np.allclose(kept, one) for one in (*epochs, sum(epochs) / 2))

    other = recipe().model_dump(mode="json", exclude_none=True)
    other["model"]["units"] = 16
    error = r"the model\.units of the run to start from, .*: 8\. Received: 16\. Change"
    with pytest.raises(ValueError, match=error):
        train(Recipe.from_dict(other), tmp_path / "other", init_from=run.path)
    assert not (tmp_path / "other").exists()
    with pytest.raises(ValueError, match=r"with a trained model\. Received: .*has no model\.keras"):
        train(recipe(), tmp_path / "other", init_from=tmp_path)


@pytest.mark.thorough("trains a run; the tests of layers and models show the parts")
def test_entmax_in_attention_and_output(tmp_path):
    document = recipe(loss="entmax15", epochs=1).model_dump(mode="json", exclude_none=True)
    document["model"]["normalizer"] = "entmax15"
    results = train(Recipe.from_dict(document), tmp_path / "run")
    assert 1 < results["perplexity"] < 1e30
    model, _ = load_run(tmp_path / "run")
    assert model.decoder.generator.normalizer == "entmax15"
    assert isinstance(model.get_layer("attention").normalizer, Entmax15)
    document["model"]["name"] = "pointer_generator_gru"
    with pytest.raises(ValueError, match=r"Expected no loss for a model that copies.*entmax15"):
        train(Recipe.from_dict(document), tmp_path / "other")


@pytest.mark.thorough("trains for six epochs with all options at once")
def test_means_of_training_go_together(tmp_path):
    """Use all options, with a learning rate so high that each epoch is worse than the first."""
    options = {
        "word_dropout": 0.1,
        "subword_sampling": 0.2,
        "scheduled_sampling": 0.2,
        "r_drop": 1.0,
        "precision": "bfloat16",
        "accumulate_batches": 2,
        "moving_average": 0.5,
        "learning_rate_schedule": "plateau",
        "plateau_patience": 1,
        "monitor": "loss",
        "early_stopping": 2,
        "learning_rate": 0.5,
        "epochs": 6,
    }
    document = recipe(**options).model_dump(mode="json", exclude_none=True)
    document["tokenizer"] = {"shared": {"kind": "sentencepiece", "vocabulary_size": 300}}
    document["data"]["train"] = {"builtin": 200}
    asked = Recipe.from_dict(document)
    results = train(asked, tmp_path / "run")
    history = results["history"]
    losses = [record["val_loss"] for record in history]
    # It ends with the second epoch in a row that is no better than the best one, or with the sixth.
    last = min(len(losses), 5)
    stops = [n for n in range(3, last + 1) if min(losses[: n - 2]) <= min(losses[n - 2 : n])]
    assert results["epochs"] == len(history) == min(stops, default=6)
    assert results["early_stopping"] == bool(stops)
    rates = [record["learning_rate"] for record in history]
    worse = any(loss >= min(losses[:n]) for n, loss in enumerate(losses[:-1]) if n)
    assert rates[0] == 0.5
    assert (rates[-1] < 0.5) == worse
    model = keras.saving.load_model(tmp_path / "run" / "model.keras", compile=False)
    assert model.encoder.compute_dtype == "bfloat16"
    assert keras.config.dtype_policy().name == "float32"
    # It is scored as it is loaded, in float32.
    expected = perplexity(load_run(tmp_path / "run")[0])
    assert expected != pytest.approx(perplexity(model), rel=1e-5)
    assert results["perplexity"] == pytest.approx(expected, rel=1e-5)
    assert train(asked, tmp_path / "run", resume=True) == results  # it is done


@pytest.mark.thorough("trains a run; `test_replayed` stops early across an interruption")
@pytest.mark.parametrize("average_epochs", [None, 2])
def test_a_run_that_early_stopping_ended_trains_no_more(average_epochs, tmp_path):
    """It was killed before the results were written."""
    options = {"early_stopping": 1, "monitor": "loss", "average_epochs": average_epochs}
    asked = recipe(learning_rate=1e-30, **options)
    results = train(asked, tmp_path / "run")
    assert (results["epochs"], results["early_stopping"]) == (2, True)
    (tmp_path / "run" / "results.json").unlink()
    again = train(asked, tmp_path / "run", resume=True)
    assert again == results


def test_history_has_no_gap(finished):
    results = finished.results
    history = results["history"]
    assert finished.history == history
    assert [record["epoch"] for record in history] == [1, 2, 3]
    for clock in ("seconds", "cpu_seconds"):
        times = [record[clock] for record in history]
        assert times == sorted(times)
        assert times[-1] == results[f"train_{clock}"]
    losses = [record["loss"] for record in history]
    assert losses == sorted(losses, reverse=True)
    for record in history:
        assert {"val_loss", "val_bleu", "val_chrf", "val_perplexity"} < set(record)


def test_the_model_on_disk_has_the_scores(finished, best_model, eagerly):
    results, model = finished.results, best_model
    assert results["bleu"] > 0 and results["chrf"] > 0
    assert model.count_params() == results["parameters"]
    pairs = builtin_corpus(3, "test")
    translations = model.translate(
        [pair.source for pair in pairs], beam_size=2, length_penalty=0.6, max_length=12
    )
    scores = translation_scores(translations, [pair.target for pair in pairs])
    assert {name: results[name] for name in scores} == scores

    best = best_epoch(results)
    sides = zip(*[pair[:2] for pair in builtin_corpus(8, "validation")], strict=True)
    sources, references = map(list, sides)
    greedy = model.translate(sources, beam_size=1, max_length=12)
    assert translation_scores(greedy, references)["bleu"] == pytest.approx(best["val_bleu"])


def test_the_model_on_disk_has_its_search_options_and_calibration(finished, best_model, eagerly):
    assert best_model.search_options == {"beam_size": 2, "max_length": 12}
    pairs = builtin_corpus(8, "validation")
    found = best_model.confidence([pair.source for pair in pairs])
    expected = Calibration.fit(found, [pair.target for pair in pairs])
    assert best_model.calibration.pairs == 8
    written = Calibration.of(finished.results["calibration"])
    assert written == best_model.calibration
    for name, value in expected.document().items():
        assert getattr(written, name) == pytest.approx(value, abs=1e-2)


def perplexity(model):
    """Compute the perplexity of the references of the test data, from the model's outputs."""
    total, tokens = 0.0, 0
    for pair in builtin_corpus(3, "test"):
        source, target = (
            [*model.source_tokenizer.tokenize([side]).to_list()[0], 3] for side in pair[:2]
        )
        logits = model(
            {"source_ids": np.array([source]), "target_ids": np.array([[2, *target[:-1]]])}
        )
        logits = keras.ops.cast(logits, "float32")
        log_probabilities = keras.ops.convert_to_numpy(keras.ops.log_softmax(logits))[0]
        total -= log_probabilities[range(len(target)), target].sum()
        tokens += len(target)
    return np.exp(total / tokens)


def test_perplexity_of_the_references(finished, best_model):
    assert finished.results["perplexity"] == pytest.approx(perplexity(best_model), rel=1e-4)


def test_what_the_run_holds(finished):
    run = finished.run
    assert {path.name for path in run.path.iterdir()} == {
        *("recipe.yaml", "tokenizer.json", "data.json", "epoch.json", "checkpoints"),
        "history.jsonl",
        *("model.keras", "logs", "results.json"),
    }
    assert Recipe.load(run.recipe) == recipe(bleu_tokenizer="13a")  # chosen by the validation data
    checkpoints = sorted(path.name for path in run.checkpoints.iterdir())
    assert checkpoints == ["epoch_0002_batch_00000015.npz", "epoch_0003_batch_00000000.npz"]
    assert list(json.loads(run.tokenizers.read_text())) == ["shared"]


def test_tensorboard(finished):
    run = finished.run

    def tensors(name):
        events = EventAccumulator(str(run.logs / name)).Reload()
        return {tag: {e.step for e in events.Tensors(tag)} for tag in events.Tags()["tensors"]}

    epochs = {0, 1, 2}
    scalars = ("loss", "perplexity", "learning_rate", "target_tokens_per_second")
    assert {f"epoch_{name}": epochs for name in scalars} == tensors("train")
    validation = tensors("validation")
    for name in ("loss", "perplexity", "bleu", "chrf"):
        assert validation[f"epoch_{name}"] == epochs
    assert tensors("attention") == {f"attention/{number}": epochs for number in (1, 2, 3, 4)}
    assert tensors("data") == {"length/source": {0}, "length/target": {0}}
    # TensorBoard shows groups by their names: the curves come before the scores of the end.
    assert {"results/bleu", "results/chrf", "results/perplexity"} <= tensors("").keys()


def test_progress(whole, finished):
    for trained, epochs in ((whole, [1, 2, 3]), (finished, [2, 3])):
        lines = [line.split("  ")[0] for line in trained.output.splitlines()]
        assert [line for line in lines if line.startswith("epoch")] == [
            f"epoch {number}/3" for number in epochs
        ]
        assert trained.output.count("; 60 of 60 pairs in ") == 1  # no pair is missing
    assert whole.output.count("training the tokenizers") == 1
    assert "training the tokenizers" not in finished.output
    assert "resuming" not in whole.output
    assert "\nresuming in epoch 2, after batch 3\n" in finished.output


def test_resuming_what_is_done_changes_nothing(finished):
    run, results = finished.run, finished.results
    output = io.StringIO()
    before = {path: path.stat().st_mtime_ns for path in run.path.rglob("*")}
    console = Console(file=output, width=1000)
    assert train(recipe(), run.path, resume=True, console=console) == results
    assert output.getvalue() == f"{run.path}: training is done, there is nothing to resume\n"
    assert {path: path.stat().st_mtime_ns for path in run.path.rglob("*")} == before


@pytest.mark.parametrize("kept", [False, True])
def test_a_resumed_run_keeps_the_best_of_all_its_epochs(finished, tmp_path, monkeypatch, kept):
    """And of their average, if it was the best."""
    run = RunFolder(shutil.copytree(finished.run.path, tmp_path / "run"))
    best = best_epoch(finished.results)
    average = {"val_bleu": best["val_bleu"] + 1, "val_loss": 1.0, "kept": kept}
    run.write_json(run.results, finished.results | {"average": average})
    written = []

    def fit(self, *_, callbacks, **options):
        (callback,) = (one for one in callbacks if isinstance(one, BestModel))
        callback.set_model(self)
        for loss in (best["val_loss"], best["val_loss"] - 0.1):
            before = run.model.stat().st_mtime_ns
            callback.on_epoch_end(3, {"val_bleu": best["val_bleu"], "val_loss": loss})
            written.append(run.model.stat().st_mtime_ns != before)
        raise KeyboardInterrupt

    monkeypatch.setattr(Seq2Seq, "fit", fit)
    with pytest.raises(KeyboardInterrupt):
        train(recipe(epochs=4), run.path, resume=True)
    assert written == [False, not kept]


def test_why_pairs_are_missing(tmp_path, monkeypatch):
    (tmp_path / "train.tsv").write_text("a b\tc d\na\t\n\tb\na a a a a a a a\ta\na b\tc d\n")
    document = small_document()
    document["tokenizer"] = {"shared": {"kind": "words", "vocabulary_size": 8}}
    document["data"] |= {"train": {"pairs": str(tmp_path / "train.tsv")}, "max_length": 8}
    document["data"]["validation"] = document["data"]["train"]
    document["training"] |= {"moving_average": 0.999, "epochs": 300}

    def fit(self, *_, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Seq2Seq, "fit", fit)
    output = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        train(Recipe.from_dict(document), tmp_path / "run", console=Console(file=output))
    *_, seen, _, slow, read = output.getvalue().splitlines()
    # 0.999 to the power of 300 is 0.74, and 0.9847 to the power of 300 is 0.0098.
    assert slow == (
        "training.moving_average=0.999 is too slow for 300 batches: 74% of the average are still "
        "the initial weights. Use 0.9847"
    )
    assert seen.startswith("data.validation: 5 of 5 pairs are also training pairs, so its ")
    assert read.partition("; ")[2] == (
        "2 of 5 pairs (the others have an empty side, or are longer than data.max_length) in "
        "1 batches, 62.5% padding"
    )


@pytest.mark.thorough("reads alignments through a recipe, which the tests of batches do directly")
def test_guided_attention_is_trained(tmp_path, monkeypatch):
    pairs = builtin_corpus(40)
    lines = [f"{pair.source}\t{pair.target}\n" for pair in pairs]
    (tmp_path / "train.tsv").write_text("".join(lines))
    links = [format_pharaoh(pair.alignment) + "\n" for pair in pairs]
    (tmp_path / "links").write_text("".join(links))
    document = recipe(guided_attention=2.0).model_dump(mode="json", exclude_none=True)
    seen = []

    def fit(self, dataset, *, steps_per_epoch, **options):
        epoch = dataset.take(steps_per_epoch)
        seen.append([inputs["alignments"].numpy() for inputs, _, _ in epoch])
        assert self.guided_attention == 2.0
        raise KeyboardInterrupt

    monkeypatch.setattr(Seq2Seq, "fit", fit)
    for number, section in enumerate(
        (
            {"builtin": 40},
            {
                "pairs": str(tmp_path / "train.tsv"),
                "alignments": str(tmp_path / "links"),
            },
        )
    ):
        document["data"]["train"] = section
        document["tokenizer"] = {"shared": {"kind": "words", "vocabulary_size": 100}}
        with pytest.raises(KeyboardInterrupt):
            train(Recipe.from_dict(document), tmp_path / f"run{number}")
    for one, other in zip(*seen, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(batch.sum() for batch in seen[0]) > 200


def guided(**train):
    document = small_document()
    document["training"]["guided_attention"] = 1.0
    document["data"]["train"] = train
    return document


def test_alignments_that_do_not_fit(tmp_path):
    (tmp_path / "train.tsv").write_text("a b\tc d\n" * 3)
    files = {"pairs": str(tmp_path / "train.tsv"), "alignments": str(tmp_path / "links")}
    words = {"tokenizer": {"shared": {"kind": "words", "vocabulary_size": 8}}}
    for lines, message in (
        ("0-0\n", r"data.train: Expected as many alignments as pairs\. Received: 1 align"),
        ("0-0\n\n0:0\n", r"links, line 3: Expected items such as"),
    ):
        (tmp_path / "links").write_text(lines)
        with pytest.raises(ValueError, match=message):
            train(Recipe.from_dict({**guided(**files), **words}), tmp_path / "run")
    with pytest.raises(ValueError, match=r"should have data\.train\.alignments with"):
        Recipe.from_dict(guided(pairs="a.tsv"))
    document = guided(**files)
    del document["training"]["guided_attention"]
    with pytest.raises(ValueError, match=r"should have training\.guided_attention, such as 1\.0"):
        Recipe.from_dict(document)
    document = guided(builtin=20)
    document["model"]["name"] = "encoder_decoder_gru"
    with pytest.raises(
        ValueError, match=r"expected a model with attention\. Received: model\.name"
    ):
        train(Recipe.from_dict({**document, **words}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.thorough("trains another model")
def test_a_model_without_attention_is_trained(tmp_path):
    document = recipe(epochs=1).model_dump(mode="json", exclude_none=True)
    document["model"]["name"] = "encoder_decoder_gru"
    results = train(Recipe.from_dict(document), tmp_path / "run")
    assert results["model"] == "encoder_decoder_gru" and results["perplexity"] > 1
    assert not (tmp_path / "run" / "logs" / "attention").exists()


def test_a_run_goes_on_with_its_own_recipe_only(finished):
    run = finished.run
    with pytest.raises(ValueError) as caught:
        train(recipe(learning_rate=0.5, seed=7), run.path, resume=True)
    assert str(caught.value) == (
        f"Expected the recipe of the run to resume, in {run.recipe}, where training.learning_rate "
        "is 0.05; only training.epochs may differ. Received: training.learning_rate=0.5. Repeat "
        "the changes of the first command."
    )


def test_a_run_goes_on_with_its_own_data_only(tmp_path, monkeypatch):
    """With fewer batches than the checkpoint has passed, an epoch would never end."""
    pairs = builtin_corpus(24)
    lines = [f"{pair.source}\t{pair.target}\n" for pair in pairs]
    train_file, validation_file = tmp_path / "train.tsv", tmp_path / "validation.tsv"
    train_file.write_text("".join(lines[:20]))
    validation_file.write_text("".join(lines[20:]))
    document = small_document()
    document["data"] = {
        "train": {"pairs": str(train_file)},
        "validation": {"pairs": str(validation_file)},
    }
    run = RunFolder(tmp_path / "run")

    def fit(self, *_, callbacks, **options):
        (check,) = (one for one in callbacks if isinstance(one, DivergenceCheck))
        check.on_epoch_begin(0)
        check.on_train_batch_end(0, {"perplexity": np.inf})

    # Training that diverges leaves a run without a model of NaN.
    monkeypatch.setattr(Seq2Seq, "fit", fit)
    with pytest.raises(
        FloatingPointError, match=r"The perplexity of batch 1 in epoch 1 is inf: training"
    ):
        train(Recipe.from_dict(document), run.path)
    assert run.recipe.exists() and not run.model.exists() and not run.results.exists()

    train_file.write_text("".join(lines[:10]))
    message = (
        r"data.train.pairs had [\d,]+ bytes with the SHA-256 \w+…\. "
        rf"Received: {train_file}, with [\d,]+ bytes with the SHA-256 \w+…\. Restore the file"
    )
    with pytest.raises(ValueError, match=message):
        train(Recipe.from_dict(document), run.path, resume=True)


def test_two_processes_do_not_share_a_folder(tmp_path):
    run = RunFolder(tmp_path / "run")
    with run.locked(), pytest.raises(ValueError, match="a folder in which no other process trains"):
        train(Recipe.from_dict(small_document()), run.path)


def test_a_run_is_not_overwritten(finished):
    run = finished.run
    with pytest.raises(ValueError, match="Expected an output folder without a run"):
        train(recipe(), run.path)


def test_nothing_to_resume(tmp_path):
    with pytest.raises(ValueError, match="Expected the folder of a run to resume"):
        train(recipe(), tmp_path / "run", resume=True)


def bad(section, **values):
    document = small_document()
    document[section] |= values
    return Recipe.from_dict(document)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"section": "model", "name": "bahdanau_gur"},
            "^recipe: unknown model 'bahdanau_gur'; did",
        ),
        ({"section": "model", "unit": 8}, "^recipe: unknown key 'model.unit'; did you mean 'model"),
        (
            {
                "section": "tokenizer",
                "shared": {"kind": "sentencepiece", "vocabulary_size": 90_000},
            },
            r"tokenizer.shared: Expected a vocabulary_size of at most \d+",
        ),
        ({"section": "data", "validation": {"pairs": "/no/such/file"}}, "/no/such/file"),
        ({"section": "data", "max_length": 2}, "data.train: Expected at least one batch"),
        (
            {"section": "training", "warmup_steps": 9999},
            r"^recipe: Expected fewer warmup_steps than the 30 steps of training",
        ),
        (
            {"section": "training", "bleu_tokenizer": "zhh"},
            "^recipe: training.bleu_tokenizer: Expected a tokenizer of sacreBLEU, .* mean zh",
        ),
    ],
)
def test_bad_input_leaves_no_run(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        train(bad(**changes), tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_bad_test_data_is_found_before_training(tmp_path):
    (tmp_path / "test.tsv").write_text(f"{'a ' * 99}\tb\n")
    document = small_document()
    document["data"]["test"] = {"pairs": str(tmp_path / "test.tsv")}
    document["data"]["max_length"] = 50
    start = NewStart(Recipe.from_dict(document), RunFolder(tmp_path / "run"), Console(quiet=True))
    with pytest.raises(ValueError, match=r"^data\.test: Expected at least one batch"):
        prepare(start)


def test_errors_of_the_model_name_the_file(tmp_path):
    path = tmp_path / "recipe.yaml"
    Recipe.from_dict(small_document()).save(path)
    for override, message in (
        ("model.name=bahdanau_gur", "unknown model 'bahdanau_gur'; did you mean 'bahdanau_gru'?"),
        ("model.unit=8", "unknown key 'model.unit'; did you mean 'model.units'?"),
    ):
        with pytest.raises(ValueError) as caught:
            train(Recipe.load(path, [override]), tmp_path / "run")
        assert str(caught.value) == f"{path} with overrides: {message}"


def test_a_model_that_copies_is_fed_extended_ids(tmp_path, monkeypatch):
    document = small_document()
    document["model"]["name"] = "pointer_generator_gru"
    document["tokenizer"] = {"shared": {"kind": "words", "vocabulary_size": 40}}
    largest = []

    def fit(self, dataset, *, steps_per_epoch, validation_data, **options):
        for batches in (dataset.take(steps_per_epoch), validation_data):
            for inputs, targets, _ in batches:
                assert inputs["source_ids"].numpy().max() < 40
                assert inputs["target_ids"].numpy().max() < 40
                largest.append(inputs["extended_source_ids"].numpy().max())
                # The source contains the words of the target that are beyond the vocabulary.
                for sources, words in zip(inputs["extended_source_ids"], targets, strict=True):
                    beyond = {word for word in words.numpy() if word >= 40}
                    assert beyond <= set(sources.numpy())
        raise KeyboardInterrupt

    monkeypatch.setattr(Seq2Seq, "fit", fit)
    with pytest.raises(KeyboardInterrupt):
        train(Recipe.from_dict(document), tmp_path / "run")
    assert max(largest) > 43


@pytest.mark.thorough("trains another model")
def test_a_model_that_reads_contexts(tmp_path):
    """The asked names are only in the contexts, and most are outside the vocabulary."""
    names = [f"{one}{other}" for one in "ABCDEFGH" for other in "abcdefgh"]
    rows = {"source": ["who is it ?"] * 64, "target": names, "context": []}
    rows["context"] = [f"it is {name} , says a man ." for name in names]
    for name, lines in rows.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = {name: str(tmp_path / name) for name in rows}
    document = recipe(epochs=1, learning_rate=0.01).model_dump(mode="json", exclude_none=True)
    document["model"] = {"name": "context_attention_gru", "units": 6, "embedding_dim": 6}
    document["tokenizer"] = {"shared": {"kind": "words", "vocabulary_size": 16}}
    document["data"] = {"train": files, "validation": files}
    results = train(Recipe.from_dict(document), tmp_path / "run")
    assert results["perplexity"] > 1 and len(results["history"]) == 1
    model, options = load_run(tmp_path / "run")
    (translation,) = model.translate(["who is it ?"], contexts=["it is Zz"], **options)
    # The tokenizer is also trained on the contexts.
    assert model.source_tokenizer.tokenize(["says man"]).numpy().min() > 3
    assert isinstance(translation, str)
    del files["context"]
    document["data"] = {"train": files, "validation": files}
    with pytest.raises(ValueError, match=r"data\.train\.context: expected a file.*context_att"):
        train(Recipe.from_dict(document), tmp_path / "other")


def test_two_tokenizers_do_not_suit_a_model_that_copies(tmp_path):
    document = recipe().model_dump(mode="json", exclude_none=True)
    document["model"]["name"] = "pointer_generator_gru"
    words = {"kind": "words", "vocabulary_size": 50}
    document["tokenizer"] = {"source": words, "target": words}
    with pytest.raises(ValueError, match=r"Expected one tokenizer .*pointer_generator_gru copies"):
        train(Recipe.from_dict(document), tmp_path / "run")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("encoder_decoder_gru", marks=pytest.mark.thorough("refuses another model")),
        "pointer_generator_gru",
    ],
)
def test_what_cannot_replace_unknown_words(tmp_path, name):
    document = recipe().model_dump(mode="json", exclude_none=True)
    document["model"]["name"] = name
    document["search"]["replace_unknown"] = True
    with pytest.raises(ValueError, match=rf"search: Expected .*replace_unknown=True with {name}"):
        train(Recipe.from_dict(document), tmp_path / "run")


def test_the_recipe_makes_a_shortlist(tmp_path):
    document = small_document()
    document["search"]["shortlist"] = True
    start = NewStart(Recipe.from_dict(document), RunFolder(tmp_path / "run"), Console(quiet=True))
    model = prepare(start).model
    kept = model.shortlist.document()
    pairs = [(pair.source, pair.target) for pair in builtin_corpus(20)]
    assert kept == model.make_shortlist(*zip(*pairs, strict=True)).document()
    assert kept != model.make_shortlist(*zip(*pairs[1:], strict=True)).document()
    document["model"]["name"] = "pointer_generator_gru"
    with pytest.raises(ValueError, match="shortlist"):
        prepare(NewStart(Recipe.from_dict(document), start.run, start.console))


@pytest.mark.thorough("trains another run for one option of the search")
def test_the_recipe_replaces_unknown_words(tmp_path):
    document = recipe(epochs=1).model_dump(mode="json", exclude_none=True)
    document["tokenizer"] = {"shared": {"kind": "words", "vocabulary_size": 60}}
    document["search"] |= {"replace_unknown": True, "dictionary": {"lacht": "grins"}}
    train(Recipe.from_dict(document), tmp_path / "run")
    model, options = load_run(tmp_path / "run")
    assert options == {
        "beam_size": 2,
        "max_length": 12,
        "replace_unknown": True,
        "dictionary": {"lacht": "grins"},
    }
    # Only unknown words are generated.
    model.decoder.generator.bias.assign(np.where(np.arange(60) == 1, 99.0, 0.0))
    translation = model.translate(["Zebulon lacht ."], **options)[0].split()
    assert len(translation) == 12 and set(translation) <= {"Zebulon", "grins", "."}
