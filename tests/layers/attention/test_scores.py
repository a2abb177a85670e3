"""All scores, compared with their equations in NumPy, and their common properties."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    AdditiveScore,
    Attention,
    CosineScore,
    DotScore,
    GeneralScore,
    LocalMonotonicWindow,
    LocationScore,
    ScaledDotScore,
    TimeDistributedDenseScorer,
)
from tests.numerics import dtype_policy, fill
from tests.runs import eager, graph, xla

QUERY_UNITS = MEMORY_UNITS = 4
SCORES = {
    "additive": lambda: AdditiveScore(5),
    "cosine": lambda: CosineScore(2.5),
    "dense": lambda: TimeDistributedDenseScorer(5),
    "dot": lambda: DotScore(),
    "general": lambda: GeneralScore(QUERY_UNITS),
    "linear": lambda: TimeDistributedDenseScorer(),
    "location": lambda: LocationScore(6),
    "scaled_dot": lambda: ScaledDotScore(),
}


def dense(layer):
    kernel, *bias = layer.get_weights()
    return lambda x: x @ kernel + (bias[0] if bias else 0.0)


# Each equation for one query s and one annotation h at place i, with the weights of the layer.
EQUATIONS = {
    "additive": lambda score, s, h, i: (
        np.tanh(dense(score.memory_projection)(h) + dense(score.query_projection)(s))
        @ np.array(score.energy)[:, 0]
    ),
    "cosine": lambda score, s, h, i: 2.5 * s @ h / np.linalg.norm(s) / np.linalg.norm(h),
    "dense": lambda score, s, h, i: dense(score.output_layer)(
        np.tanh(dense(score.memory_projection)(h) + dense(score.query_projection)(s))
    )[0],
    "dot": lambda score, s, h, i: s @ h,
    "general": lambda score, s, h, i: s @ dense(score.memory_projection)(h) / np.sqrt(QUERY_UNITS),
    "linear": lambda score, s, h, i: (
        dense(score.memory_projection)(h) + dense(score.query_projection)(s)
    )[0],
    "location": lambda score, s, h, i: dense(score.query_projection)(s)[min(i, 5)],
    "scaled_dot": lambda score, s, h, i: s @ h / 2.0,
}


def test_location_gives_no_attention_from_its_length_on():
    keys, mask = np.ones((2, 9, 4), "float32"), np.arange(9) < [[9], [8]]
    query = np.array([[0.5, 1.0], [2.0, -1.0]], "float32")
    attention = Attention(LocationScore(6))
    _, weights = attention(query, values=keys, memory_mask=mask)
    assert not np.any(np.asarray(weights)[:, 6:])
    np.testing.assert_allclose(np.sum(weights, axis=-1), 1, atol=1e-6)
    # The first window begins at the position after the last one with a score.
    attention = Attention(LocationScore(2), LocalMonotonicWindow(2))
    _, weights = attention(query, values=keys, memory_mask=mask, position=np.array([7, 3], "int32"))
    np.testing.assert_array_equal(weights[0], 0)
    np.testing.assert_allclose(weights[1], np.eye(9)[1], atol=1e-6)


def make(name):
    """Return an attention layer with this score and random weights."""
    attention = Attention(SCORES[name]())
    keys = attention.project(keras.KerasTensor((None, None, MEMORY_UNITS)))
    attention.build((None, QUERY_UNITS), keys.shape)
    return attention if name == "cosine" else fill(attention)


def given(length=7):
    rng = np.random.default_rng(1)
    memory = rng.normal(size=(3, length, MEMORY_UNITS)).astype("float32")
    queries = rng.normal(size=(3, 5, QUERY_UNITS)).astype("float32")
    mask = np.arange(length) < np.array([[length], [3], [0]])
    return queries, memory, mask


@pytest.mark.parametrize("name", SCORES)
def test_equation(name):
    attention = make(name)
    queries, memory, _ = given()
    received = attention.score(queries, attention.project(memory))
    assert received.shape == (3, 5, 7) and received.dtype == tf.float32
    for b, t, i in np.ndindex(3, 5, 7):
        expected = EQUATIONS[name](attention.score, queries[b, t], memory[b, i], i)
        np.testing.assert_allclose(received[b, t, i], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SCORES)
def test_several_queries_equal_one_by_one(name):
    attention = make(name)
    queries, memory, mask = given()
    keys = attention.project(memory)
    context, weights = attention(queries, keys, memory, mask)
    for t in range(5):
        one, one_weights = attention(queries[:, t], keys, memory, mask)
        np.testing.assert_allclose(one, context[:, t], atol=1e-5)
        np.testing.assert_allclose(one_weights, weights[:, t], atol=1e-6)


traced = [pytest.mark.graph, pytest.mark.thorough("the additive score is traced in `make test`")]


@pytest.mark.parametrize(
    ("name", "run"),
    [
        *((name, eager) for name in SCORES),
        *(
            pytest.param(name, run, marks=pytest.mark.graph if name == "additive" else traced)
            for run in (graph, xla)
            for name in SCORES
        ),
    ],
)
def test_padding_and_rows_of_padding(name, run):
    """Padding has weight 0 and no effect, and the gradients are finite."""
    attention = make(name)

    @run
    def attend(queries, memory, mask):
        with tf.GradientTape() as tape:
            tape.watch([queries, memory])
            context, weights = attention(queries, attention.project(memory), memory, mask)
            loss = tf.reduce_sum(tf.sin(3.0 * context))
        variables = [weight.value for weight in attention.trainable_weights]
        gradients = tape.gradient(loss, [queries, memory, *variables], unconnected_gradients="zero")
        return context, weights, gradients

    queries, memory, mask = map(tf.constant, given())
    context, weights, gradients = attend(queries, memory, mask)
    assert np.all(weights.numpy()[~np.broadcast_to(mask[:, None], weights.shape)] == 0)
    np.testing.assert_allclose(np.sum(weights[:2], -1), 1.0, rtol=1e-5)
    assert not np.any(weights[2]) and not np.any(context[2])
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert not np.any(gradients[0][2]) and not np.any(gradients[1][2])
    # After the source; before it and within it.
    for places in ([7, 7, 7], [0, 0, 2]):
        longer = tf.constant(np.insert(memory, places, 9.0, axis=1))
        more = attend(queries, longer, tf.constant(np.insert(mask, places, False, axis=1)))
        np.testing.assert_allclose(more[0], context, atol=1e-5)
        kept = np.insert(np.ones(7, bool), places, False)
        np.testing.assert_allclose(more[1].numpy()[:, :, kept], weights, atol=1e-5)
        assert not np.any(more[1].numpy()[:, :, ~kept])
        more[2][1] = more[2][1].numpy()[:, kept]
        for one, other in zip(gradients, more[2], strict=True):
            np.testing.assert_allclose(other, one, atol=1e-4)


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("name", SCORES)
def test_half_precision(name, dtype):
    with dtype_policy(dtype):
        attention = make(name)
    queries, memory, mask = given()
    half = dtype.removeprefix("mixed_")
    queries, memory = (tf.cast(30.0 * tensor, half) for tensor in (queries, memory))
    keys = attention.project(memory)
    assert keys.dtype == half
    context, weights = attention(queries, keys, memory, mask)
    assert weights.dtype == tf.float32 and context.dtype == half
    assert np.isfinite(tf.cast(context, "float32")).all() and np.isfinite(weights).all()
    np.testing.assert_allclose(np.sum(weights[:2], -1), 1.0, rtol=1e-5)


def test_concatenation_under_one_matrix_is_the_additive_score():
    """W2 tanh(W1 [h; s] + b) of other publications is the same, with W1 = [W; U]."""
    attention = make("additive")
    queries, memory, _ = given()
    w, b = attention.score.memory_projection.get_weights()
    (u,) = attention.score.query_projection.get_weights()
    w1, w2 = np.concatenate([w, u]), np.array(attention.score.energy)
    received = attention.score(queries, attention.project(memory))
    for t, i in np.ndindex(5, 7):
        both = np.concatenate([memory[:, i], queries[:, t]], axis=-1)
        expected = np.tanh(both @ w1 + b) @ w2
        np.testing.assert_allclose(received[:, t, i], expected[:, 0], atol=1e-5)


def test_weights_of_a_linear_scorer_never_depend_on_the_query():
    queries, memory, mask = given()
    keys = make("linear").project(memory)
    _, weights = make("linear")(queries, keys, memory, mask)
    np.testing.assert_allclose(weights, np.repeat(weights[:, :1], 5, axis=1), atol=1e-6)
    # A hidden layer makes the difference.
    attention = make("dense")
    _, weights = attention(queries, attention.project(memory), memory, mask)
    assert np.abs(weights - weights[:, :1]).max() > 0.05


def test_cosine_by_hand():
    # cos((1, 1), (1, 0)) = 1 / sqrt(2), whatever the lengths; of a zero vector it is 0.
    score = CosineScore(2.0)
    score.build((1, 2), (1, 3, 2))
    keys = score.project(np.array([[[5.0, 0.0], [-0.1, -0.1], [0.0, 0.0]]], "float32"))
    received = score(np.array([[3.0, 3.0]], "float32"), keys)
    np.testing.assert_allclose(received, [[2**0.5, -2.0, 0.0]], rtol=1e-6)
    # Without a sharpness above 1 the softmax could not choose: 0.28 at most of twenty words.
    assert np.exp(1) / (np.exp(1) + 19 * np.exp(-1)) < 0.29


def test_cosine_of_zeros_has_a_finite_gradient():
    score = CosineScore()
    score.build((1, 2), (1, 1, 2))
    with tf.GradientTape() as tape:
        zeros = tf.zeros((1, 2))
        tape.watch(zeros)
        received = score(zeros, score.project(tf.ones((1, 1, 2))))
    assert np.isfinite(tape.gradient(received, zeros)).all()


def test_general_score_takes_a_memory_of_another_size():
    score = GeneralScore(2)
    memory = np.array([[[1.0, 2.0, 3.0]]], "float32")
    score.project(memory)
    score.memory_projection.set_weights([np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])])
    # V h = (1 + 3, 2 + 3); s = (2, -1): 8 - 5, by the root of two units.
    received = score(np.array([[2.0, -1.0]], "float32"), score.project(memory))
    np.testing.assert_allclose(received, [[3.0 / np.sqrt(2.0)]], rtol=1e-6)


def test_keys_of_a_new_general_score_are_as_large_as_its_memory():
    """The initial matrix is orthogonal for any number of units."""
    memory = np.random.default_rng(0).normal(size=(1, 5, 8)).astype("float32")
    keys = np.array(GeneralScore(8).project(memory))
    np.testing.assert_allclose(
        np.linalg.norm(keys, axis=-1), np.linalg.norm(memory, axis=-1), rtol=1e-5
    )
