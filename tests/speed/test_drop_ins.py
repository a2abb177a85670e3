"""Drop-ins, compared with the plain operations that they replace."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt.speed import (
    byte_dropout,
    gradients_after_loop,
    in_loop,
    layer_normalization,
    plain_operations,
    projected_log_probability,
    top_sums,
)
from kerasnmt.training import Adam
from tests.zoo.tiny_models import INPUTS, OPTIONS, SOURCE, TARGETS, make

RNG = np.random.default_rng(0)


def floats(*shape):
    return tf.constant(RNG.normal(size=shape), tf.float32)


def recurrent_sum(inputs, factor):
    """Run three steps of a loop that adds a_t F to its inputs, where a_t depends on the state."""

    def loop(inputs):
        state, lefts, states = ops.zeros_like(inputs[:, 0]), [], []
        for t in range(3):
            lefts.append(ops.softmax(state[:, :4]))
            added = ops.einsum("bn,bnd->bd", lefts[-1], in_loop(factor))
            state = ops.tanh(inputs[:, t] + added + state)
            states.append(state)
        return ops.stack(states, axis=1), ops.stack(lefts, axis=1)

    return gradients_after_loop(loop, inputs, [factor], lambda _, lefts: [lefts])


LOOP = [floats(2, 3, 5), floats(2, 4, 5)]
IDS = np.array([3, 0, 6, 6], "int32")
# What each drop-in computes from tensors.
CASES = {
    "layer_normalization": (
        lambda *tensors: layer_normalization(*tensors, 1e-3),
        [floats(2, 4, 6), floats(6), floats(6)],
    ),
    "log_probability": (
        lambda *tensors: sum(
            weight * one
            for weight, one in zip(
                (0.9, 0.1), projected_log_probability(*tensors, IDS), strict=True
            )
        ),
        [floats(4, 3), floats(3, 7), floats(7)],
    ),
    "after_loop": (
        lambda *tensors: ops.concatenate(recurrent_sum(*tensors), axis=-1),
        LOOP,
    ),
    "top_k": (
        lambda *tensors: top_sums(*tensors, np.array([[0, 1, 4], [2, 0, 0]], "int32"))[0],
        [floats(2, 3), floats(2, 3, 1000)],
    ),
}


def value_and_gradients(function, tensors):
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        value = function(*tensors)
        loss = tf.reduce_sum(tf.sin(value))
    return [value, *tape.gradient(loss, tensors)]


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradients_of_the_plain_operation(name):
    received = value_and_gradients(*CASES[name])
    with plain_operations(name):
        expected = value_and_gradients(*CASES[name])
    for one, other in zip(received, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6, rtol=2e-5)


def test_dropout_of_keras_keeps_the_same_values():
    inputs, seed = floats(40, 30, 50), keras.random.SeedGenerator(1)
    received = np.array(byte_dropout(inputs, 0.5, seed=seed))
    with plain_operations("byte_dropout"):
        expected = np.array(byte_dropout(inputs, 0.5, seed=seed))
    for dropped in (received, expected):
        kept = dropped != 0
        np.testing.assert_allclose(dropped[kept], 2 * np.array(inputs)[kept], rtol=1e-6)
        assert np.mean(kept) == pytest.approx(0.5, abs=4 * 0.5 / kept.size**0.5)


@pytest.mark.parametrize(
    "case",
    ["bahdanau_gru", "history_attention_gru", "luong_general_lstm feeding", "transformer_tiny"],
)
def test_training_and_search_without_drop_ins(case):
    name, options = OPTIONS[case]

    def results():
        model = make(name, **options)
        model.compile(Adam(0.01, epsilon=0.1), label_smoothing=0.1, run_eagerly=True)
        found = model.search(SOURCE, beam_size=3, n_best=3, max_length=4)
        loss = model.train_on_batch(INPUTS, TARGETS)
        return found.ids, found.scores, loss, *model.get_weights()

    received = results()
    with plain_operations():
        expected = results()
    for one, other in zip(received, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def second_derivative(of, to):
    """Return the derivative of the sum of squares of a gradient."""
    with tf.GradientTape() as outer:
        outer.watch(LOOP)
        with tf.GradientTape() as inner:
            inner.watch(LOOP)
            states, _ = recurrent_sum(*LOOP)
            loss = tf.reduce_sum(states)  # its own gradient does not depend on anything
        gradient = inner.gradient(loss, LOOP[of])
    return outer.gradient(gradient, LOOP[to])


@pytest.mark.parametrize("of", [0, 1])
@pytest.mark.parametrize("to", [0, 1])
def test_a_second_derivative_of_a_loop_raises(of, to):
    with pytest.raises(ValueError, match=r"a first derivative of a loop .*after_loop"):
        second_derivative(of, to)
    with plain_operations("after_loop"):
        assert np.all(np.isfinite(second_derivative(of, to)))


def test_first_derivatives_of_a_loop_by_a_persistent_tape():
    function = tf.function(lambda: recurrent_sum(*LOOP)[0], autograph=False)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(LOOP)
        loss = tf.reduce_sum(tf.sin(function()))
    expected = value_and_gradients(lambda *tensors: recurrent_sum(*tensors)[0], LOOP)[1:]
    for _ in range(2):
        for one, other in zip(tape.gradient(loss, LOOP), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_context_ends():
    def scale():
        dropped = byte_dropout(np.ones(100, "float32"), 0.3, seed=keras.random.SeedGenerator(1))
        return pytest.approx(float(ops.max(dropped)))

    drop_in, plain = 256 / 179, 1 / 0.7
    with plain_operations("top_k"):
        assert drop_in == scale()
    with plain_operations():
        with plain_operations("byte_dropout"):
            assert plain == scale()
        assert plain == scale()
    assert drop_in == scale()


def test_unknown_names():
    with pytest.raises(ValueError, match=r"unknown drop-in 'topk'; did you mean 'top_k'\?"):
        plain_operations("topk").__enter__()
