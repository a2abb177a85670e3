"""The layers of a memory network, compared with the equations of the paper in NumPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import layers
from tests.numerics import fill, softmax

SENTENCES = np.array(
    [
        [[5, 6, 7, 8], [9, 5, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0]],
        [[8, 8, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        [[6, 4, 9, 5], [7, 5, 4, 0], [5, 5, 5, 6], [9, 8, 0, 0]],
    ],
    "int32",
)


def position(embedded):
    """Section 4.1 for each word: l_kj = (1 - j/J) - (k/d)(1 - 2j/J), counted from 1."""
    length, units = embedded.shape
    encoded = np.zeros(units)
    for j in range(1, length + 1):
        for k in range(1, units + 1):
            weight = (1 - j / length) - (k / units) * (1 - 2 * j / length)
            encoded[k - 1] += weight * embedded[j - 1, k - 1]
    return encoded


def encode(matrix, ids, rule):
    real = [word for word in ids if word]
    return rule(matrix[real]) if real else np.zeros(matrix.shape[1])


RULES = {
    "position": (layers.PositionEncoding, position),
    "twice": (lambda: layers.PositionEncoding(scale=2.0), lambda words: 2 * position(words)),
    "bag": (layers.BagOfWords, lambda embedded: embedded.sum(axis=0)),
}


@pytest.mark.parametrize("rule", RULES)
def test_encodings(rule):
    layer, by_hand = RULES[rule]
    matrix = np.random.default_rng(0).normal(size=(10, 6))
    expected = [[encode(matrix, ids, by_hand) for ids in story] for story in SENTENCES]
    embedded = matrix.astype("float32")[SENTENCES]
    received = layer()(embedded, SENTENCES != 0)
    np.testing.assert_allclose(received, expected, atol=1e-5)
    # More padding changes nothing.
    wider = np.pad(SENTENCES, ((0, 0), (0, 0), (0, 3)))
    longer = layer()(matrix.astype("float32")[wider], wider != 0)
    np.testing.assert_allclose(longer, received, atol=1e-6)


def test_position_encoding_by_hand():
    # Two words, two features: l = [[1/2 - 0, 1/2 - 0], [0 + 1/2, 0 + 1]].
    embedded = np.array([[[1.0, 10.0], [100.0, 1000.0]]], "float32")
    received = layers.PositionEncoding()(embedded, np.array([[True, True]]))
    np.testing.assert_allclose(received, [[0.5 + 50.0, 5.0 + 1000.0]])


def test_ages_count_from_the_last_sentence():
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0]], bool)
    ages = np.array(layers.SentenceAges(3)(mask))
    np.testing.assert_array_equal(ages[0], [2, 2, 1, 0])  # the two oldest share the last row of T
    np.testing.assert_array_equal(ages[1, :2], [1, 0])
    np.testing.assert_array_equal(ages[2, [0, 2]], [1, 0])


def test_random_noise_makes_sentences_older_in_training_only():
    mask = np.ones((4000, 5), bool)
    mask[:, 4] = False
    layer = layers.SentenceAges(50, random_noise=0.1)
    np.testing.assert_array_equal(layer(mask)[:, :4], np.tile([3, 2, 1, 0], (4000, 1)))
    ages = np.array(layer(mask, training=True))[:, :4]
    gaps = -np.diff(np.pad(ages, ((0, 0), (0, 1)), constant_values=-1), axis=1)
    assert set(np.unique(gaps)) == {1, 2}  # a sentence, and maybe an empty memory
    # 16,000 gaps: the share is within four deviations of 0.1.
    assert abs((gaps == 2).mean() - 0.1) < 4 * np.sqrt(0.09 / 16000)
    assert np.abs(np.corrcoef((gaps == 2).T) - np.eye(4)).max() < 0.08
    assert np.abs(np.array(layer(mask, training=True))[:, :4] - ages).max() > 0


def hop_by_hand(query, keys, values, mask, linear=False, places=0):
    """Equations 1 and 2 for the real sentences of each story, with zeros in empty places."""
    weights, read = np.zeros(mask.shape), np.zeros(values[:, 0].shape)
    for row, real in enumerate(mask):
        scores = keys[row][real] @ query[row]
        empty = np.zeros(max(places - len(scores), 0))
        if real.any():
            shares = softmax(np.concatenate([scores, empty]))[: len(scores)]
            weights[row][real] = scores if linear else shares
        read[row] = weights[row] @ values[row]
    return read, weights


@pytest.fixture
def hop_inputs():
    rng = np.random.default_rng(1)
    tensors = [rng.normal(size=shape) for shape in ((3, 6), (3, 4, 6), (3, 4, 6))]
    mask = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
    return [tensor.astype("float32") for tensor in tensors], mask


@pytest.mark.parametrize("places", [None, 3, 4, 50])
@pytest.mark.parametrize("linear", [False, True])
def test_hop(hop_inputs, linear, places):
    tensors, mask = hop_inputs
    hop = layers.MemoryHop(places)
    hop.build(*(tensor.shape for tensor in tensors))
    assert not hop.trainable_weights and float(hop.linear) == 0.0
    hop.linear.assign(float(linear))
    for received, expected in zip(
        hop(*tensors, mask), hop_by_hand(*tensors, mask, linear, places or 0), strict=True
    ):
        np.testing.assert_allclose(received, expected, atol=1e-5)
    read, weights = hop(*tensors, mask)
    assert not np.any(np.array(weights)[~mask]) and not np.any(read[1])


@pytest.mark.parametrize("places", [None, 50])
def test_gradient_of_a_story_without_sentences_is_finite(hop_inputs, places):
    tensors, mask = hop_inputs
    hop = layers.MemoryHop(places)
    tensors = [tf.constant(tensor) for tensor in tensors]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        read, _ = hop(*tensors, mask)
        loss = tf.reduce_sum(read**2)
    for gradient in tape.gradient(loss, tensors):
        assert np.isfinite(gradient).all() and not np.any(gradient[1])
        assert np.abs(gradient[0]).max() > 0


def matrices(embedding):
    return [np.array(part.embeddings, "float64") for part in (embedding.words, embedding.times)]


def memory_by_hand(embedding, rule):
    """m_i = sum_j l_j * A x_ij + T(i), where i counts from the last sentence."""
    words, times = matrices(embedding)
    encoded = np.zeros((3, 4, words.shape[1]))
    for row, story in enumerate(SENTENCES):
        count = sum(any(ids) for ids in story)
        for place in range(count):
            encoded[row, place] = encode(words, story[place], rule) + times[count - 1 - place]
    return encoded


TYINGS = {"adjacent": layers.AdjacentMemories, "layerwise": layers.LayerwiseMemories}
QUESTIONS = np.array([[5, 8, 0], [6, 0, 0], [4, 9, 7]], "int32")


def make_memories(tying, rule="position", hops=3):
    made = TYINGS[tying](hops, 10, 6, RULES[rule][0](), layers.SentenceAges(7))
    made.build()
    return fill(made, seed=2)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("tying", TYINGS)
def test_tying(tying, rule):
    memories, by_hand = make_memories(tying, rule), RULES[rule][1]
    if tying == "adjacent":
        embeddings = memories.embeddings
        pairs = [(embeddings[k], embeddings[k + 1]) for k in range(3)]
        question, last, mapped = embeddings[0], embeddings[3], np.eye(6)
        assert len(memories.weights) == 8  # of words and ages, four of each
    else:
        pairs = [(memories.input_embedding, memories.output_embedding)] * 3
        question, last = memories.question_embedding, memories.output_embedding
        mapped = np.array(memories.state_projection.kernel)
        assert len(memories.weights) == 6  # A, C, their ages, B and H
    received, mask = memories(SENTENCES)
    np.testing.assert_array_equal(mask, SENTENCES.any(axis=2))
    for pair, expected in zip(received, pairs, strict=True):
        for tensor, embedding in zip(pair, expected, strict=True):
            by_equation = memory_by_hand(embedding, by_hand)
            np.testing.assert_allclose(
                np.array(tensor)[mask], by_equation[np.array(mask)], atol=1e-5
            )
    words = np.array(question.words.embeddings)
    expected = [encode(words, ids, by_hand) for ids in QUESTIONS]
    np.testing.assert_allclose(memories.question(QUESTIONS), expected, atol=1e-5)
    np.testing.assert_array_equal(memories.last_embeddings, last.words.embeddings)
    state, read = np.random.default_rng(3).normal(size=(2, 3, 6)).astype("float32")
    np.testing.assert_allclose(memories.next_state(state, read), state @ mapped + read, atol=1e-5)


@pytest.mark.parametrize("tying", TYINGS)
def test_without_ages_there_is_no_time(tying):
    memories = TYINGS[tying](2, 10, 6, layers.BagOfWords())
    pairs, _ = memories(SENTENCES)
    assert not [weight.path for weight in memories.weights if "times" in weight.path]
    backwards, _ = memories(SENTENCES[:, ::-1])
    for pair, other in zip(pairs, backwards, strict=True):
        for tensor, reversed_ in zip(pair, other, strict=True):
            np.testing.assert_allclose(tensor, np.array(reversed_)[:, ::-1], atol=1e-6)


def test_weights_begin_as_in_the_paper():
    memories = layers.LayerwiseMemories(
        1, 500, 20, layers.PositionEncoding(), layers.SentenceAges(500)
    )
    memories.build()
    *embeddings, mapped = memories.get_weights()
    assert len(embeddings) == 5
    for values in embeddings:  # 10,000 normal numbers: the deviation within 4%
        assert abs(values.std() - 0.1) < 0.004 and abs(values.mean()) < 0.004
    np.testing.assert_array_equal(mapped, np.eye(20))


def test_noise_with_float64():
    before = keras.config.floatx()
    keras.config.set_floatx("float64")
    try:
        ages = layers.SentenceAges(50, 0.5)(np.ones((2, 9), bool), training=True)
    finally:
        keras.config.set_floatx(before)
    steps = -np.diff(np.asarray(ages), axis=1)
    assert ages.dtype == "int32" and set(steps.flatten()) == {1, 2}
