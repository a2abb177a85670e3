"""Gradients against finite differences, and half precision, of layers with weights of their own."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt import layers
from tests.numerics import dtype_policy, fill

LENGTH, UNITS = 6, 4
PARTS = {
    "monotonic": lambda: layers.MonotonicAttention(layers.AdditiveScore(3)),
    "chunkwise": lambda: layers.MonotonicAttention(
        layers.AdditiveScore(3), 2, layers.AdditiveScore(3)
    ),
    "gaussian": lambda: layers.GaussianAttention(3, 2),
    "location": lambda: layers.Attention(
        layers.AdditiveScore(3), coverage=layers.LocationFeatures(2, 3)
    ),
    "SSRU": lambda: layers.SSRU(UNITS),
    "average attention": lambda: layers.AverageAttention(layers.FeedForward(5, UNITS)),
    "normalized GRU": lambda: layers.ForwardLayer(layers.NormalizedGRUCell(UNITS)),
    "normalized LSTM": lambda: layers.ForwardLayer(layers.NormalizedLSTMCell(UNITS)),
    "transitions": lambda: layers.ForwardLayer(
        layers.TransitionCell([layers.GRUCell(UNITS), layers.GRUCell(UNITS)])
    ),
    "conditional": lambda: layers.ConditionalDecoderCell(
        layers.GRUCell(UNITS), layers.GRUCell(UNITS), layers.BahdanauAttention(3)
    ),
}
every = pytest.mark.parametrize("name", PARTS)


def run(part, words):
    """Return outputs of a part, which depend on all its weights and on the words."""
    if isinstance(part, layers.ConditionalDecoderCell):
        memory = part.project_memory(words, ops.ones(words.shape[:2], "bool"))
        state = part.initial_state([words[:, 0]], memory)
        for position in range(3):
            inputs = part.project_inputs(words[:, position])
            output, _, state = part.step(inputs, state, memory)
        return output
    if not hasattr(part, "initial_history"):
        return part(words)[0]
    history = part.initial_history(ops.ones(words.shape[:2], "bool"))
    contexts = []
    for position in range(3):
        context, _, history = part(words[:, position], values=words, **history, return_history=True)
        contexts.append(context)
    return ops.concatenate(contexts, axis=-1)


def build(name, words):
    part = PARTS[name]()
    if isinstance(part, layers.ConditionalDecoderCell):
        part.build(words.shape, words.shape)
    run(part, words)
    return part


@every
def test_gradients_equal_finite_differences(name):
    """The parts compute in float32, so a step of 1e-2 leaves three digits of a difference."""
    rng = np.random.default_rng(5)
    words = rng.normal(size=(1, LENGTH, UNITS)).astype("float32")
    part = fill(build(name, words), 6, 0.6)
    factors = rng.normal(size=run(part, words).shape)

    def total():
        return float(np.sum(factors * np.asarray(run(part, words), "float64")))

    with tf.GradientTape() as tape:
        loss = ops.sum(ops.cast(factors, "float32") * run(part, words))
    gradients = tape.gradient(loss, [weight.value for weight in part.trainable_weights])
    for weight, gradient in zip(part.trainable_weights, gradients, strict=True):
        array, gradient = np.array(weight), np.array(tf.convert_to_tensor(gradient))
        index = tuple(rng.integers(size) for size in array.shape)
        differences = []
        for step in (1e-2, -1e-2):
            moved = array.copy()
            moved[index] += step
            weight.assign(moved)
            differences.append(total())
        weight.assign(array)
        expected = (differences[0] - differences[1]) / 2e-2
        np.testing.assert_allclose(
            gradient[index], expected, rtol=2e-2, atol=2e-3, err_msg=weight.path
        )


@every
@pytest.mark.graph
@pytest.mark.parametrize(
    "policy",
    ["mixed_float16", pytest.param("mixed_bfloat16", marks=pytest.mark.thorough("more digits"))],
)
def test_half_precision_at_400_positions(name, policy):
    words = np.random.default_rng(5).normal(size=(1, 400, UNITS)).astype("float32")
    with dtype_policy(policy):
        part = build(name, words[:, :LENGTH])

    @tf.function  # an eager loop of 400 steps takes five times as long
    def outputs_and_gradients():
        with tf.GradientTape() as tape:
            outputs = run(part, words)
            loss = ops.sum(ops.cast(outputs, "float32"))
        return outputs, tape.gradient(loss, [weight.value for weight in part.trainable_weights])

    for values in tf.nest.flatten(outputs_and_gradients()):
        assert np.all(np.isfinite(ops.cast(tf.convert_to_tensor(values), "float32")))


@every
def test_config(name):
    words = np.random.default_rng(5).normal(size=(1, LENGTH, UNITS)).astype("float32")
    part = fill(build(name, words), 6)
    copy = type(part).from_config(part.get_config())
    if isinstance(copy, layers.ConditionalDecoderCell):
        copy.build(words.shape, words.shape)
    run(copy, words)
    copy.set_weights(part.get_weights())
    np.testing.assert_array_equal(run(copy, words), run(part, words))
