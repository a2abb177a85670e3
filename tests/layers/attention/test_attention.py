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
from tests.numerics import additive, fill, softmax


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


def test_keys_and_values_may_differ():
    """Bahdanau et al. (2015), equations 5 and 6, in float64, row by row."""
    rng = np.random.default_rng(2)
    memory = rng.normal(size=(3, 6, 5)).astype("float32")
    query = rng.normal(size=(3, 3)).astype("float32")
    mask = np.arange(6) < np.array([[6], [3], [1]])
    attention = BahdanauAttention(4)
    attention(query, values=memory)
    fill(attention)
    for values in (memory, rng.normal(size=(3, 6, 7)).astype("float32")):
        context, alpha = attention(query, attention.project(memory), values, mask)
        energies = [additive(attention.score, *pair) for pair in zip(query, memory, strict=True)]
        expected = softmax(energies, mask)
        np.testing.assert_allclose(alpha, expected, atol=1e-6)
        np.testing.assert_allclose(context, (expected[:, None] @ values)[:, 0], atol=1e-5)
        assert np.all(np.asarray(alpha)[~mask] == 0.0)


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
