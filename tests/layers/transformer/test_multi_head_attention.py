import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import MultiHeadAttention, MultiHeadSelfAttention

BATCH, QUERIES, LENGTH, QUERY_UNITS, MEMORY_UNITS, UNITS, HEADS = 2, 3, 5, 4, 7, 6, 2
MASK = np.arange(LENGTH) < np.array([[5], [3]])


def make(dropout=0.0):
    attention = MultiHeadAttention(UNITS, HEADS, dropout)
    attention.build((None, None, QUERY_UNITS), (None, None, MEMORY_UNITS))
    rng = np.random.default_rng(0)
    attention.set_weights([rng.normal(size=w.shape) for w in attention.weights[:3]])
    return attention


def given(seed=1):
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(BATCH, QUERIES, QUERY_UNITS)).astype("float32")
    return query, rng.normal(size=(BATCH, LENGTH, MEMORY_UNITS)).astype("float32")


def projections(attention):
    """Return W_Q, W_K and W_V, with the columns of all heads side by side."""

    def parts(layer, count):
        kernel = layer.get_weights()[0].astype("float64")
        by_head = kernel.reshape(len(kernel), attention.num_heads, count, -1)
        return [by_head[:, :, part].reshape(len(kernel), -1) for part in range(count)]

    if isinstance(attention, MultiHeadSelfAttention):
        return parts(attention.words_projection, 3)
    return [*parts(attention.query_projection, 1), *parts(attention.memory_projection, 2)]


def transcription(attention, query, memory, mask):
    """Compute Vaswani et al. (2017), section 3.2, for one sentence, by heads and queries.

    `mask` is boolean [queries, length].
    """
    w_query, w_key, w_value = projections(attention)
    w_output = attention.output_layer.get_weights()[0].astype("float64")
    size = w_query.shape[1] // attention.num_heads
    contexts, all_weights = [], []
    for number, one in enumerate(query):
        heads, weights = [], []
        for head in range(attention.num_heads):
            own = slice(head * size, (head + 1) * size)
            scores = (one @ w_query[:, own]) @ (memory @ w_key[:, own]).T / np.sqrt(size)
            exponentials = np.where(mask[number], np.exp(scores - scores.max()), 0)
            weights.append(exponentials / exponentials.sum())
            heads.append(weights[-1] @ (memory @ w_value[:, own]))
        contexts.append(np.concatenate(heads) @ w_output)
        all_weights.append(weights)
    return np.array(contexts), np.array(all_weights).transpose(1, 0, 2)


@pytest.mark.parametrize("masked", [True, False])
def test_equals_the_transcription(masked):
    attention, (query, memory) = make(), given()
    keys, values = attention.project(memory)
    assert keys.shape == (BATCH, HEADS, UNITS // HEADS, LENGTH)
    assert values.shape == (BATCH, HEADS, LENGTH, UNITS // HEADS)
    context, weights = attention(
        query, keys=keys, values=values, memory_mask=MASK if masked else None
    )
    assert weights.dtype == "float32"
    for row in range(BATCH):
        seen = np.broadcast_to(MASK[row] if masked else True, (QUERIES, LENGTH))
        expected = transcription(attention, query[row], memory[row], seen)
        np.testing.assert_allclose(context[row], expected[0], atol=1e-5)
        np.testing.assert_allclose(weights[row], expected[1], atol=1e-6)
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, rtol=1e-5)
    assert np.all(weights.numpy()[1, :, :, 3:] == 0) == masked


def test_one_memory_of_all_queries():
    attention, (query, memory) = make(), given()
    keys, values = attention.project(memory[:1])
    context, _ = attention(query, keys=keys, values=values)
    expected, _ = attention(query, np.repeat(memory[:1], BATCH, axis=0))
    np.testing.assert_allclose(context, expected, atol=1e-6)


def test_keys_and_values_of_a_functional_model():
    attention, (query, memory) = make(), given()
    inputs = keras.Input((None, query.shape[-1])), keras.Input((None, memory.shape[-1]))
    keys, values = attention.project(inputs[1])
    model = keras.Model(inputs, attention(inputs[0], keys=keys, values=values))
    for one, other in zip(model([query, memory]), attention(query, memory), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_causal():
    attention = MultiHeadSelfAttention(UNITS, HEADS, causal=True)
    words = given()[1]
    context, weights = attention(words, mask=MASK)
    for row in range(BATCH):
        earlier = np.tril(np.ones((LENGTH, LENGTH), bool)) & MASK[row]
        expected = transcription(attention, words[row], words[row], earlier)
        np.testing.assert_allclose(context[row], expected[0], atol=1e-5)
        np.testing.assert_allclose(weights[row], expected[1], atol=1e-6)
    assert not np.any(np.triu(weights, 1))
    other = words.copy()
    other[:, 3:] = 7
    changed, _ = attention(other, mask=MASK)
    np.testing.assert_array_equal(changed[:, :3], context[:, :3])
    assert np.abs(changed - context).max() > 0.1


@pytest.mark.parametrize("masked", [True, False])
def test_words_that_attend_to_each_other(masked):
    attention = MultiHeadSelfAttention(UNITS, HEADS)
    words = given()[1]
    context, weights = attention(words, mask=MASK if masked else None)
    assert weights.dtype == "float32"
    for row in range(BATCH):
        seen = np.broadcast_to(MASK[row] if masked else True, (LENGTH, LENGTH))
        expected = transcription(attention, words[row], words[row], seen)
        np.testing.assert_allclose(context[row], expected[0], atol=1e-5)
        np.testing.assert_allclose(weights[row], expected[1], atol=1e-6)


def test_projections_begin_as_matrices_of_their_own():
    """Glorot and Bengio (2010), equation 16, for each projection separately."""
    attention, words = MultiHeadAttention(120, 2), MultiHeadSelfAttention(120, 2)
    attention.build((None, None, 240), (None, None, 60))
    words.build((None, None, 120))
    for kernel in [*projections(attention), *projections(words)]:
        limit = (6 / sum(kernel.shape)) ** 0.5
        assert 0.98 * limit < np.max(np.abs(kernel)) <= limit
        assert np.std(kernel) == pytest.approx(limit / 3**0.5, rel=0.03)


def test_nothing_to_look_at():
    attention, (query, memory) = make(), map(tf.constant, given())
    mask = MASK & [[True], [False]]
    with tf.GradientTape() as tape:
        tape.watch((query, memory))
        context, weights = attention(query, memory, memory_mask=mask)
        loss = tf.reduce_sum(context**2)
    assert not np.any(weights[1]) and not np.any(context[1]) and np.all(np.any(context[0], -1))
    for gradient in tape.gradient(loss, (query, memory)):
        assert np.isfinite(gradient).all() and not np.any(gradient[1]) and np.any(gradient[0])


def test_dropout_of_weights_in_training_only():
    attention, plain, (query, memory) = make(dropout=0.5), make(), given()
    expected, weights = plain(query, memory)
    np.testing.assert_array_equal(attention(query, memory)[0], expected)
    dropped, returned = attention(query, memory, training=True)
    assert np.abs(dropped - expected).max() > 0.01
    np.testing.assert_array_equal(returned, weights)  # those before dropout


@pytest.mark.parametrize("name", ["query_projection", "memory_projection", "output_layer"])
def test_configuration_of_a_projection(name):
    layer = MultiHeadAttention(6, 3)
    layer.build((None, None, 4), (None, None, 5))
    projection = getattr(layer, name)
    copy = keras.layers.deserialize(keras.layers.serialize(projection))
    assert copy.kernel.shape == projection.kernel.shape
    # Each projection has the limits of a separate matrix.
    limit = (6 / (projection.kernel.shape[0] + 6)) ** 0.5
    assert 0.8 * limit < np.abs(copy.kernel).max() < limit
