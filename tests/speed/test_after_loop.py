import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt.speed.after_loop import gradients_after_loop, in_loop

RNG = np.random.default_rng(0)
INPUTS, FACTOR = (tf.constant(RNG.normal(size=(2, n, 5)), tf.float32) for n in (3, 4))


def run(inputs, factor, plain=False):
    """Run three steps of a loop that adds a_t F to its inputs, where a_t depends on the state."""
    factor_in_loop = factor if plain else in_loop(factor)

    def loop(inputs):
        state, lefts, states = ops.zeros_like(inputs[:, 0]), [], []
        for t in range(3):
            lefts.append(ops.softmax(state[:, :4]))
            added = ops.einsum("bn,bnd->bd", lefts[-1], factor_in_loop)
            state = ops.tanh(inputs[:, t] + added + state)
            states.append(state)
        return ops.stack(states, axis=1), ops.stack(lefts, axis=1)

    if plain:
        return loop(inputs)
    return gradients_after_loop(loop, inputs, [factor], lambda _, lefts: [lefts])


@pytest.mark.graph
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("in_graph", [False, True])
def test_the_gradients_of_the_plain_loop(persistent, in_graph):
    found = []
    for plain in (False, True):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch((INPUTS, FACTOR))
            function = tf.function(run, autograph=False) if in_graph else run
            states, lefts = function(INPUTS, FACTOR, plain)
            loss = tf.reduce_sum(tf.sin(states)) + tf.reduce_sum(tf.square(lefts))
        found.append([loss, *tape.gradient(loss, (INPUTS, FACTOR))])
    for received, expected in zip(*found, strict=True):
        np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("of", [INPUTS, FACTOR])
@pytest.mark.parametrize("to", [INPUTS, FACTOR])
def test_a_second_derivative_raises(of, to):
    with tf.GradientTape() as outer:
        outer.watch((INPUTS, FACTOR))
        with tf.GradientTape() as inner:
            inner.watch((INPUTS, FACTOR))
            loss = tf.reduce_sum(run(INPUTS, FACTOR)[0])  # its gradient to the states is constant
        gradient = inner.gradient(loss, of)
    with pytest.raises(ValueError, match=r"Expected a first derivative.*`value_names = \(\)`"):
        outer.gradient(gradient, to)
