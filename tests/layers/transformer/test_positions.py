import math

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import LearnedPositions, SinusoidalPositions

WORDS = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")
BOTH = pytest.mark.parametrize("positions", [SinusoidalPositions, lambda: LearnedPositions(7)])


def test_waves():
    """Vaswani et al. (2017), section 3.5."""
    expected = np.empty((5, 6))
    for position in range(5):
        for i in range(3):
            angle = position / 10000 ** (2 * i / 6)
            expected[position, 2 * i] = math.sin(angle)
            expected[position, 2 * i + 1] = math.cos(angle)
    np.testing.assert_allclose(SinusoidalPositions()(WORDS), WORDS + expected, atol=1e-6)


def test_waves_of_a_far_position():
    waves = SinusoidalPositions()(np.zeros((1, 1, 2)), position=np.array([[100_000]]))
    np.testing.assert_allclose(waves[0, 0], [math.sin(1e5), math.cos(1e5)], atol=1e-6)


def test_learned():
    layer = LearnedPositions(7)
    received = layer(WORDS)
    assert layer.embeddings.shape == (7, 6)
    np.testing.assert_allclose(received, WORDS + layer.embeddings.numpy()[:5], atol=1e-6)


@BOTH
def test_one_at_a_time(positions):
    layer = positions()
    expected = layer(WORDS)
    for place in range(5):
        one = layer(WORDS[:, place : place + 1], position=np.full((2, 1), place))
        np.testing.assert_allclose(one[:, 0], expected[:, place], atol=1e-6)
    # Each word has a separate position.
    places = np.array([[3, 0], [1, 4]])
    mixed = layer(np.take_along_axis(WORDS, places[..., None], axis=1), position=places)
    chosen = np.take_along_axis(np.array(expected), places[..., None], axis=1)
    np.testing.assert_allclose(mixed, chosen, atol=1e-6)


@pytest.mark.graph
@BOTH
def test_lengths_that_are_unknown_when_it_is_traced(positions):
    layer = positions()
    expected = layer(WORDS)
    traced = tf.function(layer, input_signature=[tf.TensorSpec((None, None, 6))], autograph=False)
    np.testing.assert_allclose(traced(WORDS), expected, atol=1e-6)


def test_beyond_the_last_learned_position():
    layer = LearnedPositions(4)
    message = r"Expected at most 4 words.*Received: 5 words\. Use a greater max_length"
    with pytest.raises(ValueError, match=message):
        layer(WORDS)
    with pytest.raises(ValueError, match=message):
        layer.check_length(5)
    layer.check_length(4)
    SinusoidalPositions().check_length(10**6)
    layer.check_length(tf.constant(5))  # as in a graph of unknown lengths
