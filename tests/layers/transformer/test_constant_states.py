"""Sublayers in place of a decoder's self-attention, compared with their equations in NumPy."""

import numpy as np
import pytest
from keras import tree

from kerasnmt import zoo
from kerasnmt.layers import SSRU, AverageAttention, FeedForward
from tests.numerics import fill, sigmoid

RNG = np.random.default_rng(3)
WORDS = RNG.normal(size=(2, 5, 4)).astype("float32")


def test_ssru():
    layer = SSRU(4)
    layer.build(WORDS.shape)
    fill(layer, seed=1)
    w_f, b_f = layer.gate_projection.get_weights()
    (w,) = layer.words_projection.get_weights()
    outputs, weights = layer(WORDS)
    assert weights is None
    state = layer.remembered(WORDS[:, :1])
    np.testing.assert_array_equal(state, np.zeros((2, 1, 4)))
    for row in range(2):
        c = np.zeros(4)
        for t, x in enumerate(WORDS[row]):
            f = sigmoid(x @ w_f + b_f)
            c = f * c + (1 - f) * (x @ w)
            np.testing.assert_allclose(outputs[row, t], np.maximum(0, c), atol=1e-5)
    assert 0.2 < np.mean(np.asarray(outputs) > 0) < 0.8
    for t in range(5):
        output, state = layer.step(WORDS[:, t : t + 1], state)
        np.testing.assert_allclose(output[:, 0], outputs[:, t], atol=1e-5)


def test_average_attention():
    layer = AverageAttention(FeedForward(7, 4))
    layer.build(WORDS.shape)
    fill(layer, seed=1)
    w_1, b_1, w_2, b_2 = layer.feed_forward.get_weights()
    w, b = layer.gate_projection.get_weights()
    outputs, _ = layer(WORDS)
    state = layer.remembered(WORDS[:, :1])
    for row in range(2):
        for t, x in enumerate(WORDS[row]):
            g = np.maximum(0, WORDS[row, : t + 1].mean(0) @ w_1 + b_1) @ w_2 + b_2
            i, f = np.split(sigmoid(np.concatenate([x, g]) @ w + b), 2)
            np.testing.assert_allclose(outputs[row, t], i * x + f * g, atol=1e-5)
    for t in range(5):
        output, state = layer.step(WORDS[:, t : t + 1], state)
        np.testing.assert_allclose(output[:, 0], outputs[:, t], atol=1e-5)


@pytest.mark.parametrize("decoder", ["ssru", "average_attention"])
def test_the_state_of_a_search_does_not_grow(decoder):
    model = zoo.transformer_tiny(9, units=4, num_heads=2, hidden_units=5, decoder=decoder)
    ids = np.array([[5, 6, 3], [7, 3, 0]], "int32")
    (short, _), (long, _) = (model.encode({"source_ids": ids}, steps=steps) for steps in (3, 300))
    sizes = [[tuple(one.shape) for one in tree.flatten(state)] for state in (short, long)]
    assert sizes[0] == sizes[1]
    assert len(sizes[0]) == 1 + 4 * (1 if decoder == "ssru" else 2)


def test_words_of_another_size():
    with pytest.raises(ValueError, match=r"Expected words of 8 features.*\(2, 5, 4\)"):
        SSRU(8).build(WORDS.shape)


def test_unknown_decoder():
    message = "unknown decoder 'sru'; did you mean 'ssru'"
    with pytest.raises(ValueError, match=message):
        zoo.transformer_tiny(9, decoder="sru")
