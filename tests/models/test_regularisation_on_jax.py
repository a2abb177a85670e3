"""Dropout of states, shared embeddings and scheduled sampling on JAX, without TensorFlow."""

import os
import subprocess
import sys
from importlib.util import find_spec

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models.scheduled_sampling import mixed_inputs

pytestmark = pytest.mark.thorough("starts JAX; test_without_tensorflow.py trains on it")

SCRIPT = """
import sys

for name in ("tensorflow", "tensorflow_text", "tf_keras"):
    sys.modules[name] = None
import keras
import numpy as np

from kerasnmt import zoo

given = dict(np.load(sys.argv[1]))
inputs = {key: given[key] for key in ("source_ids", "target_ids")}
targets, made = given["targets"], {}


def make(dropout=0.0, **options):
    model = zoo.bahdanau_lstm(11, embedding_dim=6, units=5, dropout=dropout, **options)
    name = "shared" if "share_embeddings" in options else "free"
    model.set_weights([given[f"{name}{i}"] for i in range(len(model.weights))])
    return model


model = make(state_dropout=0.5)
made["plain"] = model(inputs)
made["masked"] = np.stack([model(inputs, training=True) for _ in range(2)])
states, memory = model.encode(inputs, training=True)
made["masks"] = states.cell[2]
outputs, _ = model.decoder(inputs["target_ids"], states, memory)
made["whole"] = outputs
steps = []
for t in range(4):
    outputs, _, states = model.decoder.step(inputs["target_ids"][:, t], states, memory)
    steps.append(outputs)
made["steps"] = np.stack(steps, axis=1)
model.compile(keras.optimizers.SGD(0.2))
losses = model.fit(inputs, targets, epochs=5, verbose=0).history["loss"]
made["state_losses"] = losses

model = make(share_embeddings=True, tie_embeddings=True)
model.compile(keras.optimizers.SGD(0.2))
made["shared_losses"] = model.fit(inputs, targets, epochs=3, verbose=0).history["loss"]

model = make()
late = keras.optimizers.schedules.PiecewiseConstantDecay([1, 3], [0.0, 0.5, 1 - 1e-7])
model.compile(keras.optimizers.SGD(0.0), scheduled_sampling=late)
losses = model.fit(inputs, targets, epochs=6, verbose=0).history["loss"]
losses += model.fit(inputs, targets, epochs=1, verbose=0).history["loss"]
losses += [model.train_on_batch(inputs, targets, return_dict=True)["loss"]]
made["sampled_losses"] = losses

model = make()
model.compile(keras.optimizers.SGD(0.2), r_drop=3.0)
made["r_drop_losses"] = model.fit(inputs, targets, epochs=3, verbose=0).history["loss"]
model = make(dropout=0.5)
model.compile(keras.optimizers.SGD(0.0))
plain = model.fit(inputs, targets, epochs=1, verbose=0).history["loss"]
model.compile(keras.optimizers.SGD(0.0), r_drop=50.0)
dropped = model.fit(inputs, targets, epochs=1, verbose=0).history["loss"]
made["dropped_losses"] = plain + dropped
np.savez(sys.argv[2], **{key: np.asarray(value) for key, value in made.items()})
"""
INPUTS = {
    "source_ids": np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [3, 0, 0, 0, 0]], "int32"),
    "target_ids": np.array([[2, 10, 5, 7], [2, 4, 0, 0], [2, 9, 8, 0]], "int32"),
}
TARGETS = np.array([[10, 5, 7, 3], [4, 3, 0, 0], [9, 8, 3, 0]], "int32")


def make(**options):
    model = zoo.bahdanau_lstm(11, embedding_dim=6, units=5, dropout=0.0, **options)
    rng = np.random.default_rng(2)
    model.set_weights([rng.normal(size=weight.shape) for weight in model.get_weights()])
    return model


SHARED = {"share_embeddings": True, "tie_embeddings": True}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    folder = tmp_path_factory.mktemp("jax")
    weights = {
        f"{name}{i}": weight
        for name, options in (("free", {}), ("shared", SHARED))
        for i, weight in enumerate(make(**options).get_weights())
    }
    np.savez(folder / "in.npz", **INPUTS, **weights, targets=TARGETS)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder / "in.npz", folder / "out.npz"],
        env={**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(np.load(folder / "out.npz"))


def test_dropout_of_states(made):
    np.testing.assert_allclose(made["plain"], make(state_dropout=0.5)(INPUTS), atol=1e-5)
    one, other = made["masked"]
    assert np.abs(one - made["plain"]).max() > 0.01 and np.abs(one - other).max() > 0.01
    np.testing.assert_array_equal(np.unique(made["masks"]), [0, 2])
    np.testing.assert_allclose(made["whole"], made["steps"], atol=1e-5)
    assert made["state_losses"][-1] < made["state_losses"][0]


def test_shared_embeddings_train_as_on_tensorflow(made):
    model = make(**SHARED)
    model.compile(keras.optimizers.SGD(0.2), run_eagerly=True)
    losses = model.fit(INPUTS, TARGETS, epochs=3, verbose=0).history["loss"]
    np.testing.assert_allclose(made["shared_losses"], losses, rtol=1e-4)


def test_scheduled_sampling(made):
    model = make()
    model.compile()
    predicted = np.argmax(model(INPUTS), axis=-1)
    mixed = mixed_inputs(INPUTS["target_ids"], predicted, np.ones((3, 4), bool), 11)
    plain, always = (
        float(model.compute_loss(inputs, TARGETS, model(inputs)))
        for inputs in (INPUTS, {**INPUTS, "target_ids": mixed})
    )
    assert abs(plain - always) > 0.01
    losses = made["sampled_losses"]
    np.testing.assert_allclose(losses[:2], plain, rtol=1e-5)  # steps 0 and 1
    np.testing.assert_allclose(losses[4:], always, rtol=1e-5)  # from step 4, in later fits too


def test_r_drop(made):
    """Without dropout, both passes are equal. With dropout, their divergence is added."""
    model = make()
    model.compile(keras.optimizers.SGD(0.2), run_eagerly=True)
    losses = model.fit(INPUTS, TARGETS, epochs=3, verbose=0).history["loss"]
    np.testing.assert_allclose(made["r_drop_losses"], losses, rtol=1e-4)
    plain, dropped = made["dropped_losses"]
    assert dropped > plain + 1.0
