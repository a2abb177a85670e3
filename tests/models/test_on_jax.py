"""The same models on JAX, in a process without TensorFlow."""

import numpy as np
import pytest

from tests.models import memory_networks
from tests.models.on_any_backend import (
    TARGETS,
    check_divergence_of_r_drop,
    check_dropout_of_states,
    outputs,
    regularised,
    scheduled_sampling,
    searched,
    sparse,
    surroundings,
    training,
    value_and_gradient_on_jax,
)
from tests.numerics import log_softmax
from tests.other_backend import assert_equal

thorough = pytest.mark.thorough("the other tests train and search on JAX")
EXACT = {"ids": {"atol": 0}}


def test_no_tensorflow_was_there(on_jax):
    backend, tensorflow, models, refusal = on_jax(surroundings)
    assert (backend, tensorflow) == ("jax", False)
    assert "bahdanau_gru" in models
    assert refusal  # text has no way in without TensorFlow


@pytest.mark.parametrize("beam_size", [1, pytest.param(3, marks=thorough)])
def test_searches_equal_those_of_tensorflow(on_jax, beam_size):
    assert_equal(searched, beam_size, run=on_jax, **EXACT)


def test_outputs_and_training_equal_those_of_tensorflow(on_jax):
    assert_equal(outputs, run=on_jax)
    near = {"rtol": 1e-4}
    assert_equal(training, run=on_jax, losses=near, perplexities=near)
    losses = training()["losses"]
    assert losses[-1] < losses[0]


@thorough
def test_entmax_in_attention_and_output_equals_that_of_tensorflow(on_jax):
    near = {"rtol": 1e-4, "atol": 1e-4}
    assert_equal(sparse, run=on_jax, losses=near, scores=near, **EXACT)


def test_token_log_probability_and_its_gradient(on_jax):
    logits = (20 * np.random.default_rng(0).normal(size=(3, 4, 13))).astype("float32")
    wanted = 0.9 * np.eye(13)[TARGETS] + 0.1 / 13
    value, gradient = on_jax(value_and_gradient_on_jax, logits)
    np.testing.assert_allclose(value, np.sum(wanted * log_softmax(logits)), rtol=1e-5)
    np.testing.assert_allclose(gradient, wanted - np.exp(log_softmax(logits)), atol=1e-6)


@thorough
def test_regularisation_equals_that_of_tensorflow(on_jax):
    near = {"rtol": 1e-4}
    assert_equal(regularised, run=on_jax, shared=near, r_drop=near)
    sampled = {"never": {"rtol": 1e-5}, "always": {"rtol": 1e-5}}
    assert_equal(scheduled_sampling, run=on_jax, **sampled)
    never, always = scheduled_sampling().values()
    assert abs(never[0] - always[0]) > 0.01


@thorough
@pytest.mark.parametrize("check", [check_dropout_of_states, check_divergence_of_r_drop])
def test_regularisation_by_random_numbers(on_jax, check):
    on_jax(check)


@thorough
@pytest.mark.parametrize("case", memory_networks.OPTIONS)
def test_memory_networks_equal_those_of_tensorflow(on_jax, case):
    near = {"rtol": 1e-4, "atol": 1e-4}
    tolerances = {"logits": near, "weights": near, "scores": {"rtol": 1e-3, "atol": 1e-3}}
    for linear in (False, True):
        found = memory_networks.outputs, case, linear
        assert_equal(*found, run=on_jax, **tolerances, **EXACT)
    if case == "adjacent":
        assert_equal(memory_networks.training, run=on_jax, losses={"rtol": 1e-3})
