import keras
import numpy as np
import pytest

from kerasnmt.training import Adam

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 5)).astype("float32"), RNG.normal(size=(12, 3)).astype("float32")


def fitted(optimizer, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
    model.compile(optimizer, loss="mse", **options)
    for step in range(9):
        rows = slice(step % 3 * 4, step % 3 * 4 + 4)
        model.train_on_batch(X[rows], Y[rows])
    return model


OPTIONS = [
    {},
    {"beta_1": 0.5, "beta_2": 0.8, "epsilon": 0.1},
    {"global_clipnorm": 0.1, "use_ema": True, "weight_decay": 0.01},
    {"amsgrad": True},
    {"gradient_accumulation_steps": 3},
    {"loss_scale_factor": 8.0},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_the_numbers_of_keras(options):
    assert_same_numbers(options, run_eagerly=True)


def test_the_numbers_of_keras_in_compiled_steps():
    options = {"gradient_accumulation_steps": 3, "global_clipnorm": 0.1, "use_ema": True}
    assert_same_numbers(options, jit_compile=True)


@pytest.mark.thorough("traces for each option what runs eagerly in another test")
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
def test_the_numbers_of_keras_in_traced_steps(options, jit_compile):
    assert_same_numbers(options, jit_compile=jit_compile)


def assert_same_numbers(options, **compiled):
    ours, theirs = (
        fitted(optimizer(0.02, **options), **compiled)
        for optimizer in (Adam, keras.optimizers.Adam)
    )
    state = [one for one in ours.optimizer.variables if one.name != "gradient_norm"]
    for variable, expected in zip(state, theirs.optimizer.variables, strict=True):
        np.testing.assert_allclose(variable.numpy(), expected.numpy(), rtol=1e-5, atol=2e-6)
    for weights, expected in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=2e-6)


def test_half_precision():
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        ours, theirs = (
            fitted(optimizer(0.02), run_eagerly=True) for optimizer in (Adam, keras.optimizers.Adam)
        )
    finally:
        keras.config.set_dtype_policy(policy)
    assert isinstance(ours.optimizer, keras.optimizers.LossScaleOptimizer)
    for weights, expected in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-6)
