"""The same model on JAX, in a process without TensorFlow."""

import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import keras
import numpy as np
import pytest
import tensorflow as tf

SCRIPT = """
import json
import sys


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("tensorflow", "tensorflow_text", "tf_keras"):
            raise ImportError(f"{name} is blocked")


sys.meta_path.insert(0, Refuse())

import jax
import keras
import numpy as np

from kerasnmt.layers import token_log_probability
from kerasnmt.zoo import bahdanau_gru, list_models

given = dict(np.load(sys.argv[1]))
inputs = {"source_ids": given["source_ids"], "target_ids": given["target_ids"]}
model = bahdanau_gru(11, 13, embedding_dim=6, units=5, dropout=0.0)
model.set_weights([given[f"weight{i}"] for i in range(len(model.weights))])
made = {}
compiled = jax.jit(lambda inputs: (model(inputs), model.attend(inputs)["weights"]))
made["logits"], made["attended"] = compiled(inputs)


def search(beam_size, ids):
    found = model.search(
        ids, beam_size=beam_size, n_best=beam_size, max_length=7, with_records=True
    )
    return found.ids, found.scores, found.records["weights"]


# One is not compiled, the other is.
for beam_size, run in ((3, search), (1, jax.jit(search, static_argnums=0))):
    for name, value in zip(("ids", "scores", "weights"), run(beam_size, given["source_ids"])):
        made[f"{name}{beam_size}"] = value


def loss(logits):
    chosen, mean = token_log_probability(logits, given["targets"])
    return (0.9 * chosen + 0.1 * mean).sum()


made["token"], made["token_gradient"] = jax.value_and_grad(loss)(given["logits_given"])
model.compile(keras.optimizers.SGD(0.1), label_smoothing=0.1)
history = model.fit(
    inputs, given["targets"], sample_weight=given["sample_weight"], epochs=3, verbose=0
).history
made["losses"], made["perplexities"] = history["loss"], history["perplexity"]
np.savez(sys.argv[2], **{name: np.asarray(value) for name, value in made.items()})
try:
    model.translate(["a"])
except Exception as error:
    refusal = f"{type(error).__name__}: {error}"
print(json.dumps({
    "backend": keras.backend.backend(),
    "tensorflow": "tensorflow" in sys.modules,
    "models": list_models(),
    "refusal": refusal,
}))
"""


@pytest.fixture(scope="module")
def on_jax(make_model, tmp_path_factory):
    """The results of JAX and of TensorFlow for the same weights and inputs."""
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    folder = tmp_path_factory.mktemp("jax")
    targets = np.array([[12, 5, 7, 3], [4, 3, 0, 0], [9, 11, 3, 0]], "int32")
    inputs = {
        "source_ids": np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [3, 0, 0, 0, 0]], "int32"),
        "target_ids": np.array([[2, 12, 5, 7], [2, 4, 0, 0], [2, 9, 11, 0]], "int32"),
    }
    weights = (targets != 0).astype("float32")
    model = make_model(seed=5, scale=0.8)
    logits_given = (20 * np.random.default_rng(0).normal(size=(3, 4, 13))).astype("float32")
    np.savez(
        folder / "given.npz",
        **inputs,
        **{f"weight{i}": weight for i, weight in enumerate(model.get_weights())},
        targets=targets,
        sample_weight=weights,
        logits_given=logits_given,
    )
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), folder / "given.npz", folder / "made.npz"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    return dict(np.load(folder / "made.npz")), said, model, inputs, targets, weights, logits_given


def test_no_tensorflow_was_there(on_jax):
    _, said, *_ = on_jax
    assert said["backend"] == "jax"
    assert said["tensorflow"] is False
    assert "bahdanau_gru" in said["models"]
    assert said["refusal"]  # text has no way in without TensorFlow


def test_outputs_and_searches_match_tensorflow(on_jax):
    made, _, model, inputs, *_ = on_jax
    np.testing.assert_allclose(made["logits"], model(inputs), atol=1e-5)
    np.testing.assert_allclose(made["attended"], model.attend(inputs)["weights"], atol=1e-5)
    for beam_size in (1, 3):
        found = model.search(
            inputs["source_ids"],
            beam_size=beam_size,
            n_best=beam_size,
            max_length=7,
            with_records=True,
        )
        np.testing.assert_array_equal(made[f"ids{beam_size}"], found.ids)
        np.testing.assert_allclose(made[f"scores{beam_size}"], found.scores, atol=1e-5)
        weights = found.records["weights"]
        np.testing.assert_allclose(made[f"weights{beam_size}"], weights, atol=1e-5)


def test_token_log_probability_and_its_gradient(on_jax):
    made, _, _, _, targets, _, logits = on_jax
    with tf.GradientTape() as tape:
        logits = tf.constant(logits)
        tape.watch(logits)
        plain = tf.nn.log_softmax(logits)
        chosen = tf.gather(plain, targets, batch_dims=2)
        loss = tf.reduce_sum(0.9 * chosen + 0.1 * tf.reduce_mean(plain, -1))
    np.testing.assert_allclose(made["token"], loss, rtol=1e-5)
    np.testing.assert_allclose(made["token_gradient"], tape.gradient(loss, logits), atol=1e-6)


def test_training_matches_tensorflow(on_jax, make_model):
    made, _, _, inputs, targets, weights, _ = on_jax
    model = make_model(seed=5, scale=0.8)
    model.compile(keras.optimizers.SGD(0.1), label_smoothing=0.1, run_eagerly=True)
    history = model.fit(inputs, targets, sample_weight=weights, epochs=3, verbose=0).history
    np.testing.assert_allclose(made["losses"], history["loss"], rtol=1e-4)
    np.testing.assert_allclose(made["perplexities"], history["perplexity"], rtol=1e-4)
    assert made["losses"][-1] < made["losses"][0]
