import numpy as np
import pytest
from keras import ops

from kerasnmt.layers import AdditiveScore, Attention, LocationFeatures
from tests.numerics import additive, fill, softmax

RNG = np.random.default_rng(4)
MEMORY = RNG.normal(size=(2, 6, 3)).astype("float32")
QUERIES = RNG.normal(size=(2, 3, 4)).astype("float32")
MASK = np.arange(6) < np.array([[6], [4]])


@pytest.mark.parametrize("cumulative", [False, True])
def test_the_location_sensitive_score_in_numpy(cumulative):
    # v^T tanh(W h_i + b + U_q s + U f_i), f_i = sum_m K_m C_{i+m}, m = -1, 0, 1.
    features = LocationFeatures(2, 3, cumulative)
    attention = Attention(AdditiveScore(5), coverage=features)
    attention.build((None, 4), None, (None, None, 3))
    fill(attention, seed=3)
    kernel, projection = np.asarray(features.kernel)[:, 0], np.asarray(features.projection)
    history = attention.initial_history(ops.convert_to_tensor(MASK))
    before = np.zeros((2, 6))
    for t in range(3):
        _, weights, history = attention(
            QUERIES[:, t], values=MEMORY, memory_mask=MASK, **history, return_history=True
        )
        for row in range(2):
            padded = np.pad(before[row], 1)
            f = np.stack([padded[i : i + 3] @ kernel for i in range(6)])
            scores = additive(attention.score, QUERIES[row, t], MEMORY[row], f @ projection)
            np.testing.assert_allclose(weights[row], softmax(scores, MASK[row]), atol=1e-5)
        before = np.asarray(weights) + (before if cumulative else 0)
        np.testing.assert_allclose(history["coverage"], before, atol=1e-6)


def test_hypotheses_equal_rows():
    features = LocationFeatures(4, 5)
    keys = RNG.normal(size=(2, 6, 3)).astype("float32")
    coverage = RNG.uniform(size=(2, 3, 6)).astype("float32")
    together = features(keys, coverage)
    assert together.shape == (2, 3, 6, 3)
    for t in range(3):
        np.testing.assert_allclose(together[:, t], features(keys, coverage[:, t]), atol=1e-6)


@pytest.mark.parametrize("size", [0, 4, -1])
def test_kernels_of_even_size(size):
    with pytest.raises(ValueError, match=f"an odd kernel_size above 0.*={size}"):
        LocationFeatures(kernel_size=size)


def test_no_filters():
    with pytest.raises(ValueError, match=r"Expected filters above 0.*filters=0"):
        LocationFeatures(filters=0)
