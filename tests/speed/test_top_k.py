"""The largest values of long rows, compared with a sort."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt.speed.top_k import pick, top_k, top_sums

RNG = np.random.default_rng(0)


def by_sort(values, k):
    """Return the first k entries of a stable sort, which keeps the order of equal values."""
    places = np.argsort(-values, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(values, places, axis=-1), places


# 8,000 values are 80 blocks; 8,009 is a prime, so that something is padded; 37 are too few.
@pytest.mark.parametrize("length", [8000, 8009, 1500, 37])
@pytest.mark.parametrize("ties", [False, True])
def test_they_match_a_sort(length, ties):
    values = RNG.normal(size=(3, 5, length)).astype("float32")
    if ties:
        values = np.round(2 * values)  # a row of 8,000 has some fifteen different values
    expected_values, expected_places = by_sort(values, 5)
    greatest, places = map(ops.convert_to_numpy, top_k(ops.convert_to_tensor(values), 5))
    np.testing.assert_array_equal(greatest, expected_values)
    np.testing.assert_array_equal(places, expected_places)


def test_many_values_of_a_long_row():
    values = RNG.normal(size=(1, 40_000)).astype("float32")
    expected_values, expected_places = by_sort(values, 3000)
    greatest, places = map(ops.convert_to_numpy, top_k(ops.convert_to_tensor(values), 3000))
    np.testing.assert_array_equal(greatest, expected_values)
    np.testing.assert_array_equal(places, expected_places)


@pytest.mark.graph
@pytest.mark.parametrize("length", [8009, 450, 7])
def test_the_length_may_be_known_only_when_the_graph_runs(length):
    values = RNG.normal(size=(2, 3, length)).astype("float32")
    graph = tf.function(
        lambda values: top_k(values, 4),
        input_signature=[tf.TensorSpec([None, 3, None])],
        autograph=False,
    )
    greatest, places = graph(values)
    assert greatest.shape == places.shape == (2, 3, 4)
    expected_values, expected_places = by_sort(values, 4)
    np.testing.assert_array_equal(greatest, expected_values)
    np.testing.assert_array_equal(places, expected_places)


@pytest.mark.graph
@pytest.mark.parametrize("shape", [(2, 3, None), (2, 3, 4)])
def test_where_there_are_fewer_minus_infinity_follows(shape):
    values = RNG.normal(size=(2, 3, 4)).astype("float32")
    graph = tf.function(
        lambda values: top_k(values, 6), input_signature=[tf.TensorSpec(shape)], autograph=False
    )
    greatest, places = graph(values)
    expected_values, expected_places = by_sort(values, 4)
    np.testing.assert_array_equal(greatest[..., :4], expected_values)
    np.testing.assert_array_equal(places[..., :4], expected_places)
    assert np.all(np.isneginf(greatest[..., 4:])) and np.all(places[..., 4:] >= 4)


@pytest.mark.graph
def test_of_no_rows_there_are_none():
    graph = tf.function(
        lambda values: top_k(values, 5),
        input_signature=[tf.TensorSpec([None, 1, 8000])],
        autograph=False,
    )
    none = np.zeros((0, 1, 8000), "float32")
    for greatest, places in (graph(none), top_k(none, 5)):
        assert greatest.shape == places.shape == (0, 1, 5)


@pytest.mark.parametrize("length", [8000, 8009, 37])
@pytest.mark.parametrize("ties", [False, True])
def test_the_greatest_sums_match_a_sort(length, ties):
    gains = RNG.normal(size=(3, 5, length)).astype("float32")
    scores = RNG.normal(size=(3, 5)).astype("float32")
    scores[1, 2] = -1e9  # an ended hypothesis
    if ties:
        gains, scores = np.round(2 * gains), np.round(scores)
    sums, expected = by_sort((scores[..., None] + gains).reshape(3, -1), 5)
    ranks = np.array([[0, 1, 2, 3, 4], [4, 0, 1, 1, 3], [2, 2, 0, 4, 1]], "int32")
    found = top_sums(*map(ops.convert_to_tensor, (scores, gains, ranks)))
    greatest, hypotheses, places = map(ops.convert_to_numpy, found)
    sums, expected = (np.take_along_axis(values, ranks, axis=1) for values in (sums, expected))
    np.testing.assert_array_equal(greatest, sums)
    np.testing.assert_array_equal(hypotheses, expected // length)
    np.testing.assert_array_equal(places, expected % length)


def test_pick_is_a_gather():
    values = RNG.normal(size=(3, 4)).astype("float32")
    values[0, 1] = -np.inf  # is not multiplied by zero
    places = RNG.integers(4, size=(3, 7)).astype("int32")
    found = pick(ops.convert_to_tensor(values), ops.convert_to_tensor(places))
    np.testing.assert_array_equal(found, np.take_along_axis(values, places, axis=1))
