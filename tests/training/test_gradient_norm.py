import subprocess
import sys

import keras
import numpy as np
import pytest

from kerasnmt.training import Adam, GradientNorm

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 1.5], [2.0, 2.0]], "float32")
Y = np.array([[1.0], [0.0], [-2.0], [3.0]], "float32")
WEIGHTS, BIAS = np.array([[0.5], [-0.25]], "float32"), np.array([0.1], "float32")


class SGD(GradientNorm, keras.optimizers.SGD):
    pass


def gradient_norm(x, y):
    """Compute the gradient norm of the mean squared error of the linear model below."""
    error = 2 * (x @ WEIGHTS + BIAS - y) / len(x)
    return np.sqrt(np.square(x.T @ error).sum() + error.sum() ** 2)


def fitted(optimizer, batch_size=4, epochs=1, jit_compile=False):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.set_weights([WEIGHTS, BIAS])
    model.compile(optimizer, loss="mse", jit_compile=jit_compile, run_eagerly=not jit_compile)
    model.fit(X, Y, batch_size=batch_size, epochs=epochs, shuffle=False, verbose=0)
    return model


@pytest.mark.parametrize(
    "options", [{}, {"global_clipnorm": 0.1}, {"use_ema": True}, {"loss_scale_factor": 8.0}]
)
def test_norm_of_the_gradient_before_clipping(options):
    optimizer = fitted(SGD(0.01, **options)).optimizer
    assert float(optimizer.gradient_norm) == pytest.approx(gradient_norm(X, Y), rel=1e-5)


def test_norm_of_the_gradient_in_compiled_steps():
    options = {"global_clipnorm": 0.1, "use_ema": True, "loss_scale_factor": 8.0}
    optimizer = fitted(SGD(0.01, **options), jit_compile=True).optimizer
    assert float(optimizer.gradient_norm) == pytest.approx(gradient_norm(X, Y), rel=1e-5)


def test_each_step_has_its_own():
    assert gradient_norm(X[2:], Y[2:]) != pytest.approx(gradient_norm(X, Y), rel=0.1)
    optimizer = fitted(SGD(1e-12), batch_size=2).optimizer
    assert float(optimizer.gradient_norm) == pytest.approx(gradient_norm(X[2:], Y[2:]), rel=1e-5)


@pytest.mark.parametrize(
    "jit_compile", [False, pytest.param(True, marks=pytest.mark.thorough("compiles"))]
)
def test_accumulated_gradients_have_the_norm_of_their_mean(jit_compile):
    optimizer = SGD(0.01, gradient_accumulation_steps=2, global_clipnorm=0.1)
    optimizer = fitted(optimizer, batch_size=2, jit_compile=jit_compile).optimizer
    assert int(optimizer.iterations) == 1
    assert float(optimizer.gradient_norm) == pytest.approx(gradient_norm(X, Y), rel=1e-5)


def test_between_steps_the_last_one_stays():
    optimizer = SGD(1e-12, gradient_accumulation_steps=2)
    model = fitted(optimizer, batch_size=2)
    model.fit(X[:1], Y[:1], verbose=0)  # half a step
    assert float(optimizer.gradient_norm) == pytest.approx(gradient_norm(X, Y), rel=1e-5)


def test_scaled_loss():
    optimizer = keras.optimizers.LossScaleOptimizer(SGD(0.01), initial_scale=1024.0)
    inner = fitted(optimizer).optimizer.inner_optimizer
    assert float(inner.gradient_norm) == pytest.approx(gradient_norm(X, Y), rel=1e-5)


def test_nothing_else_changes():
    options = {"global_clipnorm": 0.5, "use_ema": True}
    ours, theirs = (
        fitted(optimizer(0.01, **options), epochs=3) for optimizer in (SGD, keras.optimizers.SGD)
    )
    for weights, expected in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_array_equal(weights, expected)
    assert len(ours.optimizer.variables) == len(theirs.optimizer.variables) + 1
    ours.optimizer.build(ours.trainable_variables)  # as one does to load its state: no second one
    assert len(ours.optimizer.variables) == len(theirs.optimizer.variables) + 1


def test_saved_with_the_model(tmp_path):
    model = fitted(Adam(0.01))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras").optimizer
    assert type(again) is Adam and int(again.iterations) == 1
    assert float(again.gradient_norm) == pytest.approx(gradient_norm(X, Y), rel=1e-5)


@pytest.mark.thorough("starts JAX; `tests/system` compares the norms of both backends")
def test_on_jax_where_there_is_no_tensorflow():
    program = """
import os, sys
os.environ["KERAS_BACKEND"] = "jax"
sys.modules["tensorflow"] = None
import keras, numpy as np
from kerasnmt.training import Adam
x = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 1.5], [2.0, 2.0]], "float32")
y = np.array([[1.0], [0.0], [-2.0], [3.0]], "float32")
for options, batch_size in (({}, 4), ({"gradient_accumulation_steps": 2}, 2)):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.set_weights([np.float32([[0.5], [-0.25]]), np.float32([0.1])])
    model.compile(Adam(global_clipnorm=0.1, **options), loss="mse")
    model.fit(x, y, batch_size=batch_size, shuffle=False, verbose=0)
    print(float(model.optimizer.gradient_norm))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    norms = [float(line) for line in done.stdout.split()]
    np.testing.assert_allclose(norms, [gradient_norm(X, Y)] * 2, rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"global_clipnorm": 0.5}])
def test_a_word_that_stands_twice_has_one_gradient(options):
    """The norm, clipping and Adam's moments use the sum of the gradients of all its places."""
    model = keras.Sequential([keras.Input((3,), dtype="int32"), keras.layers.Embedding(4, 2)])
    before = np.array(model.layers[0].embeddings)
    model.compile(Adam(0.01, epsilon=0.1, **options), loss="mse", run_eagerly=True)
    target = np.zeros((1, 3, 2), "float32")
    model.fit(np.array([[1, 1, 2]]), target, verbose=0)

    gradient = np.zeros((4, 2))
    for place in (1, 1, 2):
        gradient[place] += 2 * before[place] / target.size
    norm = np.sqrt(np.square(gradient).sum())
    assert float(model.optimizer.gradient_norm) == pytest.approx(norm, rel=1e-5)
    gradient *= min(1.0, options.get("global_clipnorm", np.inf) / norm)
    # At the first step the bias corrections of Adam undo the decay: m = g and v = g².
    scale = 0.1 / np.sqrt(1 - 0.999)  # Keras divides the second moment's root by its correction
    expected = before - 0.01 * gradient / (np.abs(gradient) + scale)
    np.testing.assert_allclose(np.array(model.layers[0].embeddings), expected, rtol=1e-4)
