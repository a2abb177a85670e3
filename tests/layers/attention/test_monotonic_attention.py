"""Monotonic attentions, compared with sums over all ways through the source."""

import itertools

import keras
import numpy as np
import pytest
from keras import ops

from kerasnmt.layers import (
    AdditiveScore,
    DotScore,
    Entmax15,
    GeneralScore,
    LocationScore,
    MonotonicAttention,
)
from kerasnmt.zoo import bahdanau_gru
from tests.numerics import dtype_policy, fill, sigmoid, softmax

RNG = np.random.default_rng(4)
MEMORY = RNG.normal(size=(2, 5, 4)).astype("float32")
QUERIES = RNG.normal(size=(2, 3, 4)).astype("float32")
MASK = np.arange(5) < np.array([[5], [3]])


def build(**options):
    attention = MonotonicAttention(DotScore(), **options)
    attention.build((None, 4), None, (None, None, 4))
    fill(attention, seed=2)
    return attention


def run(attention, training=False, memory=MEMORY, mask=MASK):
    """Return the weights of three words, and the histories before them."""
    history = attention.initial_history(ops.convert_to_tensor(mask), training)
    histories, weights = [], []
    for t in range(3):
        histories.append(history)
        _, one, history = attention(
            QUERIES[:, t], values=memory, memory_mask=mask, **history, return_history=True
        )
        weights.append(np.asarray(one))
    return np.stack(weights, 1), histories


def stops(attention, row, t):
    """Return the probability of stopping at each real position."""
    gain, bias = float(attention.gain), float(attention.bias)
    energy = MEMORY[row] @ QUERIES[row, t] * gain + bias
    return sigmoid(energy[: MASK[row].sum()])


def test_weights_are_sums_over_all_ways():
    # A way stops at positions a_1 <= a_2 <= a_3, or runs off the end.
    attention = build()
    weights, _ = run(attention)
    for row in range(2):
        length = MASK[row].sum()
        p = [stops(attention, row, t) for t in range(3)]
        expected = np.zeros((3, 5))
        for t in range(3):
            for way in itertools.combinations_with_replacement(range(length), t + 1):
                probability, start = 1.0, 0
                for word, stop in enumerate(way):
                    probability *= np.prod(1 - p[word][start:stop]) * p[word][stop]
                    start = stop
                expected[t, way[-1]] += probability
        np.testing.assert_allclose(weights[row], expected, atol=1e-6)
        assert np.all(np.diff(weights[row].sum(1)) < 0) and weights[row, 0].sum() < 1


def test_hard_alignments_stop_at_the_first_probable_position():
    attention = build(hard=True)
    attention.gain.assign(1.0)
    attention.bias.assign(0.1)
    weights, histories = run(attention)
    for row in range(2):
        start = 0
        for t in range(3):
            p = stops(attention, row, t)
            expected = np.zeros(5)
            later = [i for i in range(start, len(p)) if p[i] > 0.5]
            if later:
                start = later[0]
                expected[start] = 1
            np.testing.assert_array_equal(weights[row, t], expected)
            np.testing.assert_array_equal(histories[t]["previous"][row].numpy().sum(), 1)
    assert 0 < weights.sum() < 6  # some words stop nowhere


def test_after_a_word_without_a_stop():
    """A hard alignment starts where it was. An expected one has lost its way."""
    attention = build(hard=True)
    attention.gain.assign(1000.0)
    attention.bias.assign(0.0)
    memory = np.array([[[1.0], [-1.0], [-1.0]]], "float32") * np.ones((1, 3, 4), "float32")
    history = attention.initial_history(ops.ones((1, 3), "bool"))
    found = []
    for sign in (1.0, -1.0, 1.0):
        query = np.array([[sign, 0.0, 0.0, 0.0]], "float32")
        if sign < 0:  # nothing is probable from the second position on
            memory[0, 1:] = 1.0
            history = {"previous": np.array([[0.0, 1.0, 0.0]], "float32")}
        _, weights, history = attention(query, values=memory, **history, return_history=True)
        found.append(np.asarray(weights)[0].tolist())
    assert found == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    attention.hard = False
    lost = attention(query, values=memory, previous=np.zeros((1, 3), "float32"))
    assert not np.any(lost[1])


def test_fit_draws_random_numbers_and_evaluate_does_not():
    keras.utils.set_random_seed(3)
    model = bahdanau_gru(9, units=4, embedding_dim=3, dropout=0.0, attention="monotonic")
    ids = np.array([[5, 6, 7, 3]], "int32")
    inputs = {"source_ids": ids, "target_ids": np.array([[2, 5, 6, 7]], "int32")}
    model.compile(keras.optimizers.SGD(0.0), run_eagerly=True)
    training = model.fit(inputs, ids, epochs=4, verbose=0).history["loss"]
    assert len({*training}) == 4
    evaluated = {model.evaluate(inputs, ids, verbose=0, return_dict=True)["loss"] for _ in "ab"}
    assert len(evaluated) == 1


def test_hard_and_expected_agree_if_the_model_is_certain():
    soft, hard = build(), build(hard=True)
    for attention in (soft, hard):
        attention.gain.assign(1000.0)
        attention.bias.assign(0.0)
    np.testing.assert_allclose(run(soft)[0], run(hard)[0], atol=1e-5)


def test_chunks():
    # beta_j = sum_k alpha_k softmax_{k - w < l <= k}(u)_j.
    chunks = GeneralScore(4)
    attention = build(chunk_size=2, chunk_score=chunks)
    weights, histories = run(attention)
    (kernel,) = chunks.get_weights()
    for t in range(2):  # the histories have the weights alpha of the first two words
        for row in range(2):
            alpha = histories[t + 1]["previous"][row]
            u = QUERIES[row, t] @ (MEMORY[row] @ kernel / 2).T
            expected = np.zeros(5)
            for k in range(MASK[row].sum()):
                inside = (np.arange(5) > k - 2) & (np.arange(5) <= k)
                expected += float(alpha[k]) * softmax(u, inside)
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-6)
    assert not np.any(weights[1, :, 3:])
    places = [0, 0, 2]  # padding before the source and within it changes nothing
    longer, real = np.insert(MEMORY, places, 5.0, axis=1), np.insert(MASK, places, False, axis=1)
    expected = np.insert(weights, places, 0.0, axis=2)
    np.testing.assert_allclose(run(attention, False, longer, real)[0], expected, atol=1e-6)


def test_a_chunk_of_one_position_is_the_stop():
    plain = build()
    chunked = build(chunk_size=1, chunk_score=AdditiveScore(3))
    chunked.gain.assign(plain.gain)
    chunked.bias.assign(plain.bias)
    np.testing.assert_allclose(run(chunked)[0], run(plain)[0], atol=1e-6)
    # A chunk at a position that its score does not know is empty.
    chunked = build(chunk_size=1, chunk_score=LocationScore(2))
    chunked.gain.assign(plain.gain)
    chunked.bias.assign(plain.bias)
    np.testing.assert_allclose(run(chunked)[0], run(plain)[0] * (np.arange(5) < 2), atol=1e-6)


def test_random_numbers_of_training():
    keras.utils.set_random_seed(5)
    attention = build()
    memory_mask = np.ones((1, 4000), bool)
    history = attention.initial_history(ops.convert_to_tensor(memory_mask), training=True)
    moved = []
    for _ in range(3):
        moved.append(history["random"][0].numpy())
        assert moved[-1].min() >= 0 and moved[-1].max() < 1
        assert abs(moved[-1].mean() - 0.5) < 0.02
        _, _, history = attention(
            np.zeros((1, 4), "float32"),
            values=np.zeros((1, 4000, 4), "float32"),
            memory_mask=memory_mask,
            **{**history, "previous": np.zeros((1, 4000), "float32")},
            return_history=True,
        )
    assert np.abs(moved[0] - moved[1]).min() > 0.3
    # With the random number 0.975, the energy grows by 1.96 standard deviations.
    attention.gain.assign(0.0)
    attention.bias.assign(-1.0)
    first = np.eye(1, 5, dtype="float32").repeat(2, 0)
    _, weights = attention(
        QUERIES[:, 0],
        values=MEMORY,
        memory_mask=MASK,
        previous=first,
        random=np.full((2, 5), 0.975, "float32"),
    )
    np.testing.assert_allclose(weights[:, 0], sigmoid(-1.0 + 1.95996), rtol=1e-4)


def test_hypotheses_equal_rows():
    attention = build(chunk_size=3, chunk_score=AdditiveScore(3))
    previous = softmax(RNG.normal(size=(2, 3, 5)), MASK[:, None]).astype("float32")
    together = attention(QUERIES, values=MEMORY, memory_mask=MASK, previous=previous)
    for t in range(3):
        alone = attention(QUERIES[:, t], values=MEMORY, memory_mask=MASK, previous=previous[:, t])
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_allclose(one, other[:, t], atol=1e-6)


def test_long_sources_in_half_precision():
    with dtype_policy("mixed_float16"):
        attention = MonotonicAttention(AdditiveScore(8), chunk_size=4, chunk_score=AdditiveScore(8))
    memory = RNG.normal(size=(1, 400, 4)).astype("float32")
    mask = np.ones((1, 400), bool)
    attention(QUERIES[:1, 0], values=memory, previous=np.eye(1, 400, dtype="float32"))
    attention.gain.assign(20.0)
    history = attention.initial_history(ops.convert_to_tensor(mask))
    for t in range(3):
        context, weights, history = attention(
            QUERIES[:1, t], values=memory, memory_mask=mask, **history, return_history=True
        )
        assert np.all(np.isfinite(context)) and 0 < np.sum(weights) < 1.001


def test_what_does_not_fit():
    for options, message in (
        ({"coverage": True}, r"Expected no window, coverage or normalizer.*Received: coverage"),
        ({"normalizer": Entmax15()}, "Received: normalizer"),
        ({"chunk_size": 3}, r"chunk_size of at least 1 with a chunk_score.*chunk_size=3, .*=None"),
        ({"chunk_size": 2, "chunk_score": "dot"}, "Expected a Score. Received: chunk_score='dot'"),
        ({"chunk_size": 0, "chunk_score": DotScore()}, "Received: chunk_size=0"),
        ({"noise": -1.0}, "Expected noise >= 0. Received: noise=-1.0"),
    ):
        with pytest.raises(ValueError, match=message):
            MonotonicAttention("dot", **options)
    with pytest.raises(ValueError, match="Expected previous, the weights of the previous word"):
        build()(QUERIES[:, 0], values=MEMORY)
