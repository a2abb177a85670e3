"""A recipe in one, two and four processes, and on two devices, has the same losses."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import kerasnmt.models
from kerasnmt.training import RunFolder

pytestmark = [
    pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed"),
    pytest.mark.thorough(
        "starts processes that train; other tests train on JAX, on two devices, and join processes"
    ),
]
# All batches have the same shape, so that JAX compiles each step once. Their 7 rows need padding.
RECIPE = """
model: {name: bahdanau_gru, units: 12, embedding_dim: 12, dropout: 0.0}
tokenizer: {shared: {kind: words, vocabulary_size: 60}}
data:
  train: {pairs: train.tsv}
  validation: {pairs: validation.tsv}
  max_length: 8
training:
  epochs: 6
  batch_size: 7
  learning_rate: 0.02
  clip_norm: 0.1
  log_every: 1
  moving_average: 0.8
  early_stopping: 6
  checkpoint_every: 4
  seed: 3
search: {max_length: 8}
"""
OF_SHARDS = (
    *("launch", "-n", "2", "train", "recipe.yaml", "data.train.pairs=shard-*.tsv"),
    *("training.batch_size=8", "training.epochs=3", "training.word_dropout=0.1"),
)
WORDS = {"one": "eins", "two": "zwei", "three": "drei", "four": "vier", "five": "fünf"}


def kerasnmt(folder, *words, devices=1):
    """Run the program on JAX, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "kerasnmt.cli", *words],
        cwd=folder,
        env=os.environ
        | {
            "KERAS_BACKEND": "jax",
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices} "
            "--xla_backend_optimization_level=0",  # which compiles faster
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder with the recipe, its data and the run of one process."""
    folder = tmp_path_factory.mktemp("processes")
    rng = np.random.default_rng(1)
    (folder / "recipe.yaml").write_text(RECIPE)
    for name, count in (("train", 60), ("validation", 10)):
        rows = [rng.choice(list(WORDS), rng.integers(1, 7)) for _ in range(count)]
        lines = (f"{' '.join(row)}\t{' '.join(WORDS[word] for word in row)}\n" for row in rows)
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    kerasnmt(folder, "train", "recipe.yaml", "--output", "one")
    return folder


@pytest.fixture(scope="module")
def two(folder):
    """What the processes of the run `two` print."""
    return kerasnmt(
        folder, "launch", "-n", "2", "train", "recipe.yaml", "--output", "two", "training.epochs=5"
    )


def step_losses(run):
    """Return the loss of each step."""
    events = EventAccumulator(str(run.logs / "steps"), {"tensors": 0}).Reload()
    return [float(tf.make_ndarray(event.tensor_proto)) for event in events.Tensors("loss")]


def check_equal(folder, run, epochs):
    """Check that a run has the losses, the scores and the weights of the run of one process."""
    runs = RunFolder(folder / "one"), RunFolder(folder / run)
    one, other = (
        [json.loads(line) for line in run.history.read_text().splitlines()[:epochs]] for run in runs
    )
    assert len(other) == epochs
    for left, right in zip(one, other, strict=True):
        assert left.keys() == right.keys()
        for name in left.keys() - {"seconds", "cpu_seconds", "target_tokens_per_second"}:
            assert right[name] == pytest.approx(left[name], rel=1e-4, abs=1e-6), name
    one, other = (step_losses(run)[: 9 * epochs] for run in runs)
    assert len(other) == 9 * epochs
    assert other[0] == pytest.approx(one[0], rel=1e-5)
    assert other == pytest.approx(one, rel=1e-3)
    if epochs == 6:
        models = [keras.saving.load_model(run.model) for run in runs]
        for left, right in zip(*(model.get_weights() for model in models), strict=True):
            np.testing.assert_allclose(right, left, rtol=1e-3, atol=1e-5)


def test_two_processes_train_like_one(folder, two):
    check_equal(folder, "two", epochs=5)


def test_only_the_first_process_writes_and_prints(folder, two):
    assert two.stdout.count("best model") == 1
    assert "Gloo" not in two.stdout + two.stderr
    assert two.stderr.count("epoch 1/5") == 1
    written = {path.relative_to(folder / "two").parts[0] for path in folder.glob("two/**/*")}
    there = {path.relative_to(folder / "one").parts[0] for path in folder.glob("one/**/*")}
    assert written == there


def test_a_run_of_two_processes_is_resumed_in_one(folder, two):
    kerasnmt(folder, "train", "recipe.yaml", "--output", "two", "--resume")
    check_equal(folder, "two", epochs=6)


def test_two_devices_train_like_one(folder):
    words = "train", "recipe.yaml", "--output", "devices", "training.devices=2"
    kerasnmt(folder, *words, devices=2)
    check_equal(folder, "devices", epochs=6)


def test_four_processes_with_two_devices_each_train_like_one(folder):
    words = "train", "recipe.yaml", "--output", "four", "training.devices=2"
    kerasnmt(folder, "launch", "-n", "4", *words, devices=2)
    check_equal(folder, "four", epochs=6)


def test_a_killed_process_ends_the_training_which_resumes(folder):
    words = "launch", "-n", "2", "train", "recipe.yaml", "--output", "killed"
    process = subprocess.Popen(
        [sys.executable, "-m", "kerasnmt.cli", *words],
        cwd=folder,
        env=os.environ | {"KERAS_BACKEND": "jax"},
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if line.startswith("epoch 1/6"):
            break
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[1]), 9)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 137
    assert "process 1 of 2 has ended by SIGKILL, and the others are killed" in error
    kerasnmt(folder, *words, "--resume")
    check_equal(folder, "killed", epochs=6)


@pytest.fixture(scope="module")
def shards(folder):
    """A run of two processes that read their own shards; the shards have other sizes."""
    lines = (folder / "train.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    for number, part in enumerate((lines[:30], lines[30:40], lines[40:])):
        (folder / f"shard-{number}.tsv").write_text("".join(part), encoding="utf-8")
    kerasnmt(folder, *OF_SHARDS, "--output", "shards")
    return RunFolder(folder / "shards")


def test_processes_read_their_own_shards(shards):
    epoch = json.loads(shards.epoch.read_text())
    # The first process has 50 pairs, in 13 batches of 4; the other one has 10.
    assert [sum(counts) for counts in epoch.pop("lengths").values()] == [60, 60]
    assert epoch.pop("unknown").keys() == {"source", "target"}
    assert epoch | {"padding_share": None} == {
        "pairs": 60,
        "sentences": 60,
        "batches": 13,
        "padding_share": None,
        "readers": 2,
    }
    losses = step_losses(shards)
    assert len(losses) == 3 * 13 and np.isfinite(losses).all()
    assert np.mean(losses[-5:]) < 0.85 * losses[0]


def test_training_on_own_shards_is_resumed(folder, shards):
    copy = RunFolder(shutil.copytree(shards.path, folder / "resumed"))
    middle, end = sorted(copy.checkpoints.iterdir())
    assert middle.stem == "epoch_0002_batch_00000012"
    end.unlink()
    copy.results.unlink()
    kerasnmt(folder, *OF_SHARDS, "--output", "resumed", "--resume")
    whole, resumed = (run.history.read_text().splitlines() for run in (shards, copy))
    assert resumed[:2] == whole[:2] and len(resumed) == 3
    for name in ("loss", "perplexity", "val_loss", "val_bleu"):
        before, after = (json.loads(lines[2])[name] for lines in (whole, resumed))
        assert after == pytest.approx(before, rel=1e-6), name


def test_another_number_of_processes_counts_again(folder, shards):
    copy = RunFolder(shutil.copytree(shards.path, folder / "alone"))
    copy.results.unlink()
    sorted(copy.checkpoints.iterdir())[-1].unlink()
    done = kerasnmt(folder, *OF_SHARDS[3:], "--output", "alone", "--resume")
    assert "60 of 60 pairs in 8 batches" in done.stderr
    assert "resuming in epoch 3, after batch 7" in done.stderr
    assert len(copy.history.read_text().splitlines()) == 3
