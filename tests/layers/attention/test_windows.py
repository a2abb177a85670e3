"""Local attention: Luong, Pham and Manning (2015), section 3.2."""

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import Attention, DotScore, LocalMonotonicWindow, LocalPredictiveWindow


def numpy_local(query, memory, length, centre, width, gaussian):
    """Compute the weights of one query and one source, position by position."""
    places = [i for i in range(length) if abs(i - centre) <= width]
    scores = np.array([query @ memory[i] for i in places])
    weights = np.zeros(len(memory))
    weights[places] = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    if gaussian:
        sigma = width / 2
        weights *= np.exp(-((np.arange(len(memory)) - centre) ** 2) / (2 * sigma**2))
    return weights, weights @ memory


LENGTHS = np.array([9, 4, 1])


def given(length=9):
    rng = np.random.default_rng(1)
    memory = rng.normal(size=(3, length, 4)).astype("float32")
    queries = rng.normal(size=(3, 6, 4)).astype("float32")
    return queries, memory, np.arange(length) < LENGTHS[:, None]


def test_monotonic():
    attention = Attention(DotScore(), LocalMonotonicWindow(2))
    queries, memory, mask = given()
    context, weights = attention(queries, memory, memory, mask, position=np.arange(6)[None])
    for b, t in np.ndindex(3, 6):
        centre = min(t, LENGTHS[b] - 1)
        expected = numpy_local(queries[b, t], memory[b], LENGTHS[b], centre, 2, gaussian=False)
        np.testing.assert_allclose(weights[b, t], expected[0], atol=1e-6)
        np.testing.assert_allclose(context[b, t], expected[1], atol=1e-5)
    assert np.count_nonzero(weights[0, 5]) == 5
    for t in range(6):
        one, _ = attention(queries[:, t], memory, memory, mask, position=np.full(3, t))
        np.testing.assert_allclose(one, context[:, t], atol=1e-6)


@pytest.mark.graph
@pytest.mark.parametrize("jit_compile", [False, True])
def test_predictive(jit_compile):
    attention = Attention(DotScore(), LocalPredictiveWindow(5, width=2))
    queries, memory, mask = given()
    attention.build(queries.shape, memory.shape)
    rng = np.random.default_rng(2)
    w, v = rng.normal(size=(4, 5)), rng.normal(size=(5, 1))
    attention.window.set_weights([w, v])
    run = tf.function(attention, jit_compile=jit_compile, autograph=False)
    context, weights = run(*map(tf.constant, (queries, memory, memory, mask)))
    centres = []
    for b, t in np.ndindex(3, 6):
        # The true length of the source, not the padded one.
        centre = LENGTHS[b] / (1 + np.exp(-(np.tanh(queries[b, t] @ w) @ v)[0]))
        centres.append(centre)
        expected = numpy_local(queries[b, t], memory[b], LENGTHS[b], centre, 2, gaussian=True)
        np.testing.assert_allclose(weights[b, t], expected[0], atol=1e-5)
        np.testing.assert_allclose(context[b, t], expected[1], atol=1e-5)
    assert max(centres) - min(centres) > 3
    for t in range(6):
        one, _ = attention(queries[:, t], memory, memory, mask)
        np.testing.assert_allclose(one, context[:, t], atol=1e-5)


@pytest.mark.parametrize("window", [LocalMonotonicWindow(2), LocalPredictiveWindow(3, width=2)])
def test_padding_changes_nothing(window):
    attention = Attention(DotScore(), window)
    queries, memory, mask = given()
    position = np.arange(6)[None]
    context, weights = attention(queries, memory, memory, mask, position=position)
    for places in ([9, 9, 9], [0, 0, 2]):  # at the end; before the source and within it
        longer, real = (
            np.insert(memory, places, 5.0, axis=1),
            np.insert(mask, places, False, axis=1),
        )
        more = attention(queries, longer, longer, real, position=position)
        np.testing.assert_allclose(more[0], context, atol=1e-6)
        kept = np.insert(np.ones(9, bool), places, False)
        np.testing.assert_allclose(more[1].numpy()[:, :, kept], weights, atol=1e-6)
    # Without a mask every position is real.
    everything = np.ones_like(mask)
    expected = attention(queries, memory, memory, everything, position=position)
    received = attention(queries, memory, memory, position=position)
    np.testing.assert_allclose(received[0], expected[0], atol=1e-6)


def test_the_predicted_place_learns():
    attention = Attention(DotScore(), LocalPredictiveWindow(3, width=4))
    queries, memory, mask = map(tf.constant, given())
    with tf.GradientTape() as tape:
        context, _ = attention(queries, memory, memory, mask)
        loss = tf.reduce_sum(context**2)
    variables = [weight.value for weight in attention.trainable_weights]
    assert len(variables) == 2
    for gradient in tape.gradient(loss, variables):
        assert np.isfinite(gradient).all() and np.abs(gradient).max() > 1e-4
