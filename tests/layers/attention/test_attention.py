import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    AdditiveScore,
    Attention,
    BahdanauAttention,
    DotScore,
    ScaledDotScore,
    Score,
)


def numpy_attention(query, memory, mask, w, b, u, v, values=None):
    """Compute Bahdanau et al. (2015), equations 5 and 6, in float64, position by position."""
    values = memory if values is None else values
    contexts, all_weights = [], []
    for row in range(len(query)):
        energies = [
            float(v @ np.tanh(memory[row, i] @ w + b + query[row] @ u))
            for i in range(memory.shape[1])
            if mask[row, i]
        ]
        exponentials = np.exp(np.array(energies) - max(energies))
        weights = np.zeros(memory.shape[1])
        weights[mask[row]] = exponentials / exponentials.sum()
        contexts.append(weights @ values[row])
        all_weights.append(weights)
    return np.array(contexts), np.array(all_weights)


def additive(units, query_units, memory_units, seed=0):
    rng = np.random.default_rng(seed)
    attention = BahdanauAttention(units)
    attention.project(keras.KerasTensor((None, None, memory_units)))
    attention.build((None, query_units), (None, None, units))
    w, b = rng.normal(size=(memory_units, units)), rng.normal(size=units)
    u, v = rng.normal(size=(query_units, units)), rng.normal(size=units)
    attention.score.memory_projection.set_weights([w, b])
    attention.score.query_projection.set_weights([u])
    attention.score.energy.assign(v[:, None])
    return attention, (w, b, u, v)


def test_additive_score_by_hand():
    # One hidden unit: e_i = v tanh(w h_i + u s + b) with w = 2, u = -1, b = 1, v = 3, s = 0.5:
    # h = 0: 3 tanh(0.5) = 1.386351...; h = -0.25: 3 tanh(0) = 0; h = 1: 3 tanh(2.5) = 2.959843...
    score = AdditiveScore(1)
    keys = score.project(np.array([[[0.0], [-0.25], [1.0]]], "float32"))
    score.build((1, 1), (1, 3, 1))
    score.memory_projection.set_weights([np.array([[2.0]]), np.array([1.0])])
    score.query_projection.set_weights([np.array([[-1.0]])])
    score.energy.assign([[3.0]])
    keys = score.project(np.array([[[0.0], [-0.25], [1.0]]], "float32"))
    np.testing.assert_allclose(keys, [[[1.0], [0.5], [3.0]]])
    np.testing.assert_allclose(
        score(np.array([[0.5]], "float32"), keys), [[1.3863515, 0.0, 2.9598429]], rtol=1e-6
    )


def test_attention_by_hand():
    class Given(Score):
        """Score that returns the keys."""

        def call(self, query, keys):
            return keys[..., 0]

    attention = Attention(Given())
    # Weights 1/8, 3/8, 4/8 and a masked position.
    keys = np.log([[[1.0], [3.0], [4.0], [9.0]]]).astype("float32")
    values = np.array([[[8.0, 0.0], [0.0, 8.0], [16.0, 2.0], [100.0, 100.0]]], "float32")
    context, weights = attention(
        np.zeros((1, 5), "float32"), keys, values, np.array([[True, True, True, False]])
    )
    np.testing.assert_allclose(weights, [[0.125, 0.375, 0.5, 0.0]], rtol=1e-6)
    # 8/8 + 16/2 = 9;  3/8 * 8 + 2/2 = 4.
    np.testing.assert_allclose(context, [[9.0, 4.0]], rtol=1e-6)


def test_bahdanau_attention_equals_the_transcription():
    attention, weights = additive(units=4, query_units=3, memory_units=5)
    rng = np.random.default_rng(1)
    memory = rng.normal(size=(3, 6, 5)).astype("float32")
    query = rng.normal(size=(3, 3)).astype("float32")
    mask = np.arange(6) < np.array([[6], [4], [1]])
    context, alpha = attention(query, attention.project(memory), memory, mask)
    expected_context, expected_alpha = numpy_attention(query, memory, mask, *weights)
    np.testing.assert_allclose(alpha, expected_alpha, atol=1e-6)
    np.testing.assert_allclose(context, expected_context, atol=1e-5)
    assert np.all(np.asarray(alpha)[~mask] == 0.0)
    np.testing.assert_allclose(np.sum(alpha, axis=-1), 1.0, rtol=1e-6)


def test_concatenated_form_is_the_same_function():
    # e = v^T tanh(W1 [h; s]) with W1 = [W, U], as other texts write it.
    attention, (w, _, u, v) = additive(units=4, query_units=3, memory_units=5)
    attention.score.memory_projection.bias.assign(np.zeros(4))
    memory, query = np.random.normal(size=(1, 6, 5)), np.random.normal(size=(1, 3))
    stacked = np.concatenate([memory, np.repeat(query[:, None], 6, 1)], -1)
    expected = np.tanh(stacked @ np.concatenate([w, u])) @ v
    scores = attention.score(query.astype("float32"), attention.project(memory.astype("float32")))
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_keys_and_values_may_differ():
    attention, weights = additive(units=4, query_units=3, memory_units=5)
    rng = np.random.default_rng(2)
    memory = rng.normal(size=(2, 6, 5)).astype("float32")
    values = rng.normal(size=(2, 6, 7)).astype("float32")
    query = rng.normal(size=(2, 3)).astype("float32")
    mask = np.arange(6) < np.array([[6], [3]])
    context, alpha = attention(query, attention.project(memory), values, mask)
    expected_context, expected_alpha = numpy_attention(query, memory, mask, *weights, values)
    assert context.shape == (2, 7)
    np.testing.assert_allclose(context, expected_context, atol=1e-5)
    np.testing.assert_allclose(alpha, expected_alpha, atol=1e-6)


@pytest.mark.parametrize("masked", [True, False])
def test_several_queries_equal_one_by_one(masked):
    attention, _ = additive(units=4, query_units=3, memory_units=5)
    rng = np.random.default_rng(3)
    memory = rng.normal(size=(2, 6, 5)).astype("float32")
    queries = rng.normal(size=(2, 4, 3)).astype("float32")
    mask = np.arange(6) < np.array([[6], [3]]) if masked else None
    keys = attention.project(memory)
    contexts, alphas = attention(queries, keys, memory, mask)
    assert contexts.shape == (2, 4, 5) and alphas.shape == (2, 4, 6)
    for t in range(4):
        context, alpha = attention(queries[:, t], keys, memory, mask)
        np.testing.assert_allclose(contexts[:, t], context, atol=1e-6)
        np.testing.assert_allclose(alphas[:, t], alpha, atol=1e-6)


def test_fully_masked_row_is_zeros_with_finite_gradients():
    attention, _ = additive(units=4, query_units=3, memory_units=5)
    memory = tf.constant(np.random.normal(size=(2, 6, 5)), tf.float32)
    query = tf.constant(np.random.normal(size=(2, 3)), tf.float32)
    mask = np.array([[False] * 6, [True] * 6])
    with tf.GradientTape() as tape:
        tape.watch([memory, query])
        context, alpha = attention(query, attention.project(memory), memory, mask)
        loss = tf.reduce_sum(context**2) + tf.reduce_sum(alpha**2)
    assert np.all(context[0] == 0) and np.all(alpha[0] == 0)
    weights = [weight.value for weight in attention.trainable_weights]
    gradients = tape.gradient(loss, [memory, query, *weights])
    assert len(weights) == 4
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert np.all(gradients[0][0] == 0) and np.all(gradients[1][0] == 0)
    assert all(np.abs(gradient).sum() > 0 for gradient in gradients)


def test_half_precision_keeps_float32_weights():
    attention = BahdanauAttention(4, dtype="mixed_float16")
    memory = np.random.normal(size=(2, 6, 5)).astype("float16")
    query = np.random.normal(size=(2, 3)).astype("float16")
    context, weights = attention(query, attention.project(memory), memory, None)
    assert keras.backend.standardize_dtype(context.dtype) == "float16"
    assert keras.backend.standardize_dtype(weights.dtype) == "float32"
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, rtol=1e-6)


def test_uniform_where_scores_are_equal():
    attention = BahdanauAttention(4)
    memory = np.ones((1, 8, 5), "float32")
    keys = attention.project(memory)
    context, weights = attention(np.ones((1, 3), "float32"), keys, memory)
    np.testing.assert_allclose(weights, np.full((1, 8), 1 / 8), rtol=1e-6)
    np.testing.assert_allclose(context, np.ones((1, 5)), rtol=1e-6)
    assert math.isclose(float(np.sum(weights)), 1.0, rel_tol=1e-6)


@pytest.mark.graph
@pytest.mark.parametrize("score", [DotScore, ScaledDotScore])
def test_one_query_needs_no_batched_product(score):
    """With oneDNN, the gradients of such products write to memory of other tensors."""
    attention = Attention(score())

    @tf.function(
        input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None, None, 4])], autograph=False
    )
    def gradients(query, memory):
        with tf.GradientTape() as tape:
            tape.watch([query, memory])
            context = attention(query, values=memory)[0]
        return tape.gradient(context, [query, memory])

    used = {
        operation.type for operation in gradients.get_concrete_function().graph.get_operations()
    }
    assert "Einsum" in used and not {name for name in used if name.startswith("BatchMatMul")}
