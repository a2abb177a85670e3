"""Training on two virtual devices of one CPU, in a child process, equals training on one."""

import json
import subprocess
import sys
import textwrap

import keras
import numpy as np
import pytest

import kerasnmt.models  # noqa: F401  (registers the classes of a saved model)

SCRIPT = """
import json
import sys

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, 2 * [tf.config.LogicalDeviceConfiguration()])
# Each graph runs only a few times, so optimizing it takes longer than it saves.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})

from kerasnmt.data import split_evenly
from kerasnmt.text import WordTokenizer
from kerasnmt.training import ReplicaAdam
from kerasnmt.zoo import bahdanau_gru

tokenizer = WordTokenizer(["a", "b", "c", "d", "e"])
rng = np.random.default_rng(0)


def batch(rows):
    # The first half of the rows is long, and the second is short, so that replicas differ in words.
    sources, targets = rng.integers(4, 9, (rows, 6)), rng.integers(4, 9, (rows, 5))
    for row in range(rows):
        for ids, longest in ((sources, 5), (targets, 4)):
            length = longest if row < rows / 2 else rng.integers(1, longest)
            ids[row, length], ids[row, length + 1 :] = 3, 0
    shifted = np.concatenate([np.full((rows, 1), 2), targets[:, :-1]], axis=1) * (targets != 0)
    links = (rng.random((rows, 5, 6)) < 0.3) & (sources != 0)[:, None] & (targets != 0)[..., None]
    inputs = {
        "source_ids": sources.astype("int32"),
        "target_ids": shifted.astype("int32"),
        "alignments": (links / np.maximum(links.sum(-1, keepdims=True), 1)).astype("float32"),
    }
    return inputs, targets.astype("int32"), (targets != 0).astype("float32")


elements = [batch(rows) for rows in (5, 8, 1)]
spec = tf.nest.map_structure(
    lambda array: tf.TensorSpec([None] * array.ndim, array.dtype), elements[0]
)
# TensorFlow can write to the memory of an array from a generator, so it gets copies.
dataset = tf.data.Dataset.from_generator(
    lambda: (tf.nest.map_structure(np.copy, element) for element in elements), output_signature=spec
)
dataset = split_evenly(dataset.apply(tf.data.experimental.assert_cardinality(3)), 2)


def train(strategy, **options):
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = bahdanau_gru(tokenizer, embedding_dim=6, units=5, dropout=0.0, coverage=0.7)
        # With a large epsilon, rounding errors in gradients of 0 do not change weights.
        optimizer = ReplicaAdam(0.02, epsilon=1e-3, global_clipnorm=0.2)
        model.compile(optimizer, label_smoothing=0.1, guided_attention=0.5, **options)
    history = model.fit(dataset, validation_data=dataset, epochs=2, shuffle=False, verbose=0)
    return model, history.history


one, one_history = train(tf.distribute.get_strategy(), run_eagerly=True)
model, history = train(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]))
made = {}
for name, trained in (("one", one), ("two", model)):
    made |= {f"{name}/{weight.path}": weight.numpy() for weight in trained.weights}
model.save(sys.argv[1] + "/model.keras")
np.savez(sys.argv[1] + "/made.npz", **made)
said = [one_history, history]
if sys.argv[2:]:
    said.append(model.translate(sys.argv[2:], beam_size=1, max_length=7))
print(json.dumps(said))
"""

RECIPE_SCRIPT = """
import io
import json
import sys

import tensorflow as tf
from rich.console import Console

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, 2 * [tf.config.LogicalDeviceConfiguration()])

from kerasnmt.training import Recipe, train


def trained(devices):
    recipe = Recipe.from_dict(
        {
            "model": {"name": "luong_dot_lstm", "units": 4, "embedding_dim": 4, "dropout": 0.0},
            "tokenizer": {"shared": {"kind": "characters", "vocabulary_size": 60}},
            "data": {"train": {"builtin": 24}, "validation": {"builtin": 3}},
            "training": {"epochs": 1, "batch_size": 7, "devices": devices},
            "search": {"beam_size": 1, "max_length": 10},
        }
    )
    console = Console(file=io.StringIO())
    return train(recipe, f"{sys.argv[1]}/run_{devices}", console=console)


one, two = trained(1), trained(2)
try:
    trained(3)
except ValueError as error:
    print(json.dumps([one, two, str(error)]))
"""


def run(script, folder, *texts):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), folder, *texts],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    return run(SCRIPT, folder), dict(np.load(folder / "made.npz"))


def test_weights_match_one_device(trained):
    _, made = trained
    one = {name: weight for name, weight in made.items() if name.startswith("one/")}
    assert len(one) == len(made) / 2 > 20
    for name, weight in one.items():
        other = made[name.replace("one/", "two/")]
        np.testing.assert_allclose(other, weight, atol=1e-5, rtol=1e-5, err_msg=name)


def test_losses_and_perplexities_match_one_device(trained):
    (one, two), _ = trained
    assert {"loss", "perplexity", "val_loss", "val_perplexity"} == set(one)
    for name, values in one.items():
        np.testing.assert_allclose(two[name], values, rtol=1e-5, err_msg=name)
        assert values[1] < values[0]  # learned


@pytest.mark.thorough("traces a search; other tests load models and translate")
def test_the_saved_model_is_as_good_on_one_device(tmp_path):
    texts = ["a b", "c", "d e a b"]
    *_, translations = run(SCRIPT, tmp_path, *texts)
    model, made = keras.saving.load_model(tmp_path / "model.keras"), np.load(tmp_path / "made.npz")
    assert model.translate(texts, beam_size=1, max_length=7) == translations
    assert type(model.optimizer).__name__ == "ReplicaAdam"
    saved = [weight for name, weight in made.items() if name.startswith("two/")]
    for weight, expected in zip(model.get_weights(), saved, strict=True):
        np.testing.assert_array_equal(weight, expected)


@pytest.mark.thorough("trains two runs in a process of their own")
def test_a_recipe_on_two_devices(tmp_path):
    one, two, error = run(RECIPE_SCRIPT, tmp_path)
    assert two["bleu"] == one["bleu"]
    assert two["perplexity"] == pytest.approx(one["perplexity"], rel=1e-5)
    for name in ("perplexity", "val_perplexity", "val_chrf", "val_attention_entropy"):
        assert two["history"][0][name] == pytest.approx(one["history"][0][name], rel=1e-5)
    models = [keras.saving.load_model(tmp_path / f"run_{n}" / "model.keras") for n in (1, 2)]
    for weight, expected in zip(models[1].weights, models[0].weights, strict=True):
        if "seed_generator" not in weight.path:
            np.testing.assert_allclose(weight, expected, atol=1e-5, err_msg=weight.path)
    assert "Expected training.devices to be at most 2" in error
