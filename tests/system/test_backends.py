"""One recipe on TensorFlow and on JAX, with the same losses, files and answers."""

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from kerasnmt.cli.main import app
from kerasnmt.data import read_tsv
from kerasnmt.training import Recipe, RunFolder, StepScalars
from kerasnmt.training.prepared import prepare
from kerasnmt.training.starts import FurtherStart
from kerasnmt.training.tokenizers import save_tokenizers, train_tokenizers
from kerasnmt.training.training import begin, compile_model, fit
from kerasnmt.zoo import get_model

pytestmark = [
    pytest.mark.long("trains a recipe on two backends"),
    pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed"),
]
# All sides have the same width, so that JAX compiles each step once.
RECIPE = """
model: {name: bahdanau_gru, units: 12, embedding_dim: 12, dropout: 0.0}
tokenizer: {shared: {kind: words, vocabulary_size: 60}}
data:
  train: {pairs: train.tsv}
  validation: {pairs: validation.tsv}
  max_length: 8
training:
  {epochs: 2, batch_size: 8, learning_rate: 0.04, log_every: 1, checkpoint_every: 5, seed: 3}
search: {max_length: 8}
"""
WORDS = {"one": "eins", "two": "zwei", "three": "drei", "four": "vier", "five": "fünf"}
# Commands about a run.
TRANSLATE = "translate on_jax --input sources.txt --scores --alignments"
FURTHER = pytest.mark.thorough("further commands use the same task")
FURTHER_COMMANDS = {
    "score": "score {run} --source sources.txt --target targets.txt",
    "align": "align {run} --source sources.txt --target targets.txt",
    "beam": "translate {run} --input sources.txt --n-best 2 --beam-size 2",
    "evaluate": "evaluate {run} --source sources.txt --reference targets.txt --json",
    "attention": "attention {run} two --output attention.svg",
}
# Training with all options of a recipe.
OPTIONS = (
    "train recipe.yaml --output options model.name=pointer_generator_lstm model.coverage=1.0 "
    "model.dropout=0.1 data.train.alignments=links.txt training.epochs=2 training.log_every=2 "
    "training.guided_attention=0.5 training.scheduled_sampling=0.2 training.moving_average=0.9 "
    "training.learning_rate_schedule=plateau training.early_stopping=1 training.word_dropout=0.1 "
    "training.label_smoothing=0.1 training.r_drop=1 training.precision=bfloat16 "
    "training.accumulate_batches=2"
)
RESUME = "train recipe.yaml training.epochs=3 --resume --output {run}"
REFUSED = {
    "export": "export on_jax exports/toy",
    "lite": "export on_jax lite --lite",
    "check": "check on_jax",
    "demo": "demo --output demo",
}
TOO_MANY_DEVICES = "train recipe.yaml training.devices=2 --output refused"
SCRIPT = """
import json
import sys

from tests.system.test_backends import command

said = {name: command(words) for name, words in json.loads(sys.argv[1]).items()}
import keras

assert keras.backend.backend() == "jax"
print(json.dumps(said))
"""


def command(words):
    """Return the output of a command, or its error."""
    output = io.StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(io.StringIO()):
            app(words.split(), standalone_mode=False)
    except ValueError as error:
        return f"error: {error}"
    return output.getvalue()


def write_corpus(folder):
    """Write numbers of one to three digits as English words, and reversed German words."""
    numbers = [digits for size in (1, 2, 3) for digits in product(WORDS, repeat=size)]
    numbers = [numbers[i] for i in np.random.default_rng(0).permutation(len(numbers))]
    pairs = [
        (" ".join(words), " ".join(WORDS[word] for word in reversed(words))) for words in numbers
    ]
    links = [
        " ".join(f"{i}-{len(words) - 1 - i}" for i in range(len(words))) for words in numbers[:104]
    ]
    (folder / "links.txt").write_text("\n".join(links) + "\n", encoding="utf-8")
    for name, part in (("train", pairs[:104]), ("validation", pairs[104:112])):
        lines = "".join(f"{source}\t{target}\n" for source, target in part)
        (folder / f"{name}.tsv").write_text(lines, encoding="utf-8")
    for side, name in enumerate(("sources", "targets")):
        lines = "".join(f"{pair[side]}\n" for pair in pairs[104:120])
        (folder / f"{name}.txt").write_text(lines, encoding="utf-8")
    (folder / "recipe.yaml").write_text(RECIPE, encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a corpus and an untrained run `begun`."""
    folder = tmp_path_factory.mktemp("backends")
    write_corpus(folder)
    begun = RunFolder(folder / "begun")
    recipe = Recipe.load(folder / "recipe.yaml")
    tokenizers = train_tokenizers(recipe.tokenizer, read_tsv(folder / "train.tsv"))
    begun.path.mkdir()
    recipe.save(begun.recipe)
    save_tokenizers(begun.tokenizers, tokenizers)
    get_model(recipe.model.name)(*tokenizers.values(), **recipe.model.keywords).save(begun.model)
    return folder


@pytest.fixture(scope="module")
def curves(folder):
    """The learning curves of training on TensorFlow that starts with the weights of `begun`."""
    recipe, console = Recipe.load(folder / "recipe.yaml"), Console(quiet=True)
    run = RunFolder(folder / "curves")
    prepared = prepare(FurtherStart(recipe, run, console, RunFolder(folder / "begun")))
    compile_model(prepared)
    place, callbacks = begin(prepared)
    fit(callbacks, place, [StepScalars(run.logs, every=1)])
    return run.path


@pytest.fixture(scope="module")
def on_tensorflow(folder):
    """A run on TensorFlow that starts with the weights of `begun`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        command("train recipe.yaml --init-from begun --output on_tensorflow")
    return folder / "on_tensorflow"


def commands_on_jax(folder, commands):
    """The output of commands in a process where Keras runs on JAX."""
    environment = {
        **os.environ,
        "KERAS_BACKEND": "jax",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(commands)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def on_jax(folder):
    """The output of commands on JAX, and a training run on JAX."""
    commands = {
        "train": "train recipe.yaml --init-from begun --output on_jax",
        "translate": TRANSLATE,
        **REFUSED,
        "devices": TOO_MANY_DEVICES,
    }
    return commands_on_jax(folder, commands)


@pytest.fixture(scope="module")
def further_on_jax(folder, on_tensorflow, on_jax):
    """The output of further commands on JAX, and further training runs on JAX."""
    shutil.copytree(on_tensorflow, folder / "resumed_on_jax")
    shutil.copytree(folder / "on_jax", folder / "interrupted")
    (folder / "interrupted" / "results.json").unlink()
    (folder / "interrupted" / "checkpoints" / "epoch_0002_batch_00000000.npz").unlink()
    commands = {
        "options": OPTIONS,
        "interrupted": "train recipe.yaml --resume --output interrupted",
        "resume": RESUME.format(run="resumed_on_jax"),
        **{name: words.format(run="on_tensorflow") for name, words in FURTHER_COMMANDS.items()},
    }
    return commands_on_jax(folder, commands)


@pytest.fixture
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def step_scalars(run, tag):
    events = EventAccumulator(str(run / "logs" / "steps"), size_guidance={"tensors": 0}).Reload()
    return {e.step: float(tf.make_ndarray(e.tensor_proto)) for e in events.Tensors(tag)}


def history(run):
    return [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]


def test_losses_and_gradients_match_tensorflow(folder, curves, on_jax):
    for tag in ("loss", "gradient_norm", "learning_rate", "weight_norm"):
        expected, found = (step_scalars(run, tag) for run in (curves, folder / "on_jax"))
        assert [*found] == [*expected] == [*range(1, 27)], tag
        assert found[1] == pytest.approx(expected[1], abs=1e-5), tag
        assert found[25] == pytest.approx(expected[25], rel=1e-3), tag
    losses = step_scalars(folder / "on_jax", "loss")
    assert losses[25] < 0.5 * losses[1]


@pytest.mark.thorough("trains on TensorFlow as well")
def test_both_write_the_same_files(folder, on_tensorflow, on_jax):
    def files(run):
        names = (path.relative_to(run) for path in run.rglob("*") if path.is_file())
        return sorted({str(p).partition("events.out")[0] for p in names})

    assert files(folder / "on_jax") == files(folder / "on_tensorflow")
    expected, found = (
        json.loads((folder / f"on_{backend}" / "results.json").read_text())
        for backend in ("tensorflow", "jax")
    )
    assert {*found} == {*expected}
    assert found["perplexity"] == pytest.approx(expected["perplexity"], rel=1e-3)
    for one, other in zip(
        history(folder / "on_jax"), history(folder / "on_tensorflow"), strict=True
    ):
        assert {*one} == {*other}
        for name in ("loss", "perplexity", "val_loss", "val_bleu", "val_attention_entropy"):
            assert one[name] == pytest.approx(other[name], rel=2e-3), name


def numbers_and_words(text):
    """Split an output into its words and its numbers."""
    words, numbers = [], []
    for word in text.split():
        try:
            numbers.append(float(word))
        except ValueError:
            words.append(word)
    return words, numbers


def check_answer(words, answer):
    """Check that the output of a command on TensorFlow equals the output on JAX."""
    expected, found = map(numbers_and_words, (command(words), answer))
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1], expected[1], atol=2e-5)


def test_a_run_of_jax_answers_on_both_backends(in_folder, on_jax, eagerly):
    check_answer(TRANSLATE, on_jax["translate"])


@FURTHER
@pytest.mark.parametrize("name", FURTHER_COMMANDS)
def test_a_run_of_tensorflow_answers_on_both_backends(name, in_folder, further_on_jax, eagerly):
    check_answer(FURTHER_COMMANDS[name].format(run="on_tensorflow"), further_on_jax[name])


@pytest.mark.thorough("trains further epochs on two backends")
def test_a_run_of_tensorflow_resumes_on_jax(in_folder, further_on_jax):
    shutil.copytree("on_tensorflow", "resumed")
    command(RESUME.format(run="resumed"))
    expected, found = history(Path("resumed")), history(Path("resumed_on_jax"))
    assert found[:2] == expected[:2] and len(found) == len(expected) == 3
    for name in ("loss", "val_loss"):
        assert found[2][name] == pytest.approx(expected[2][name], rel=1e-3)


@pytest.mark.thorough("trains an epoch in two parts")
def test_training_resumes_within_an_epoch(folder, further_on_jax):
    whole, resumed = history(folder / "on_jax"), history(folder / "interrupted")
    assert len(whole) == len(resumed) == 2
    for name in ("loss", "perplexity", "val_loss", "val_bleu"):
        assert resumed[1][name] == whole[1][name]


@pytest.mark.thorough("trains a further model")
def test_all_options_of_a_recipe_train(folder, further_on_jax):
    assert "pointer_generator_lstm" in further_on_jax["options"]
    records = history(folder / "options")
    assert len(records) == 2 and records[1]["val_loss"] < records[0]["val_loss"]
    averages = [*step_scalars(folder / "options", "gradient_norm")]
    assert averages == [2, 4, 6, 8, 10, 12]


@pytest.mark.thorough("trains a further epoch")
def test_a_run_of_jax_resumes_on_tensorflow(in_folder, on_jax):
    shutil.copytree("on_jax", "from_jax")
    command(RESUME.format(run="from_jax"))
    found = history(Path("from_jax"))
    assert len(found) == 3 and found[2]["loss"] < found[1]["loss"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_jax_does_not_do_is_refused_in_one_line(name, folder, on_jax):
    assert on_jax[name].startswith("error: ")
    assert "\n" not in on_jax[name]
    assert "KERAS_BACKEND=tensorflow" in on_jax[name]
    assert not any((folder / made).exists() for made in ("exports", "lite", "demo"))


def test_more_devices_than_jax_sees_are_refused(folder, on_jax):
    assert on_jax["devices"] == (
        "error: recipe.yaml with overrides: Expected training.devices to be at most 1, the number "
        "of CPUs that JAX sees. Received: training.devices=2"
    )
    assert not (folder / "refused").exists()
