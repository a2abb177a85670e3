import math

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.layers import masked_softmax


def test_hand_computed():
    # exp(0) : exp(ln 3) = 1 : 3; the masked third score, though the largest, takes no part.
    scores = np.array([[0.0, math.log(3.0), 50.0]], "float32")
    weights = masked_softmax(scores, np.array([[True, True, False]]))
    np.testing.assert_allclose(weights, [[0.25, 0.75, 0.0]], rtol=1e-6)
    assert np.asarray(weights)[0, 2] == 0.0  # exactly


def test_without_mask_is_the_softmax():
    weights = masked_softmax(np.array([[0.0, math.log(4.0)]], "float32"))
    np.testing.assert_allclose(weights, [[0.2, 0.8]], rtol=1e-6)


def test_scores_below_the_mask_value_do_not_leak():
    # The lowest real score in float16, next to a masked one.
    weights = masked_softmax(np.array([[-65504.0, 0.0]], "float16"), np.array([[True, False]]))
    np.testing.assert_array_equal(weights, [[1.0, 0.0]])


def test_real_positions_with_the_score_of_an_impossible_token_share_the_attention():
    weights = masked_softmax(np.array([[-1e9, 0.0, -1e9]], "float32"), [[True, False, True]])
    np.testing.assert_array_equal(weights, [[0.5, 0.0, 0.5]])


def test_is_float32_whatever_the_scores():
    scores = keras.ops.convert_to_tensor([[30000.0, -30000.0, 29984.0]], "float16")
    weights = masked_softmax(scores, np.array([[True, True, True]]))
    assert keras.backend.standardize_dtype(weights.dtype) == "float32"
    # exp(-16), which float16 holds only as a subnormal of three digits.
    np.testing.assert_allclose(np.asarray(weights)[0, 2], math.exp(-16), rtol=1e-5)


def test_fully_masked_row_is_zeros_with_finite_gradient():
    scores = tf.Variable([[1.0, -2.0, 3.0], [0.5, 0.5, 9.0]])
    mask = np.array([[False, False, False], [True, True, False]])
    with tf.GradientTape() as tape:
        weights = masked_softmax(scores, mask)
        loss = tf.reduce_sum(weights * [[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]])
    np.testing.assert_array_equal(weights, [[0, 0, 0], [0.5, 0.5, 0]])
    # d loss / d e_i = alpha_i (g_i - sum_j alpha_j g_j), with sum 1.5: 0.5 * (1 - 1.5), 0.5 * 0.5.
    np.testing.assert_allclose(
        tape.gradient(loss, scores), [[0, 0, 0], [-0.25, 0.25, 0]], atol=1e-7
    )


def test_mask_broadcasts_over_queries():
    scores = np.zeros((1, 2, 4), "float32")
    weights = masked_softmax(scores, np.array([[[True, True, False, False]]]))
    np.testing.assert_array_equal(weights, [[[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]]])
