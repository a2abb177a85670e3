"""Values and masks of wrong shapes are one line for every attention."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasnmt import layers
from kerasnmt.layers import AdditiveScore, Attention, Score

QUERY = np.ones((2, 3, 4), "float32")
VALUES = np.ones((2, 5, 4), "float32")
ATTENTIONS = {
    "named": lambda: layers.Attention("general"),
    "bahdanau": lambda: layers.BahdanauAttention(4),
    "local": lambda: layers.Attention("dot", layers.LocalMonotonicWindow(1)),
    "heads": lambda: layers.MultiHeadAttention(4, 2),
}
WRONG = {
    "two axes": (VALUES[:, 0], None),
    "another batch": (VALUES[[0, 0, 0]], None),
    "a mask of another batch": (VALUES, np.ones((3, 5), bool)),
    "a mask of another length": (VALUES, np.ones((2, 4), bool)),
    "a mask for each query": (VALUES, np.ones((2, 3, 5), bool)),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("make", ATTENTIONS.values(), ids=ATTENTIONS)
@pytest.mark.parametrize("built", [False, True], ids=["first call", "later call"])
def test_wrong_shapes(make, wrong, built):
    attention = make()
    if built:
        attention(QUERY, memory_mask=np.ones((2, 5), bool), **_memory(attention, VALUES))
    values, mask = wrong
    with pytest.raises(ValueError, match=r"Expected .*\[batch, length, units\]") as error:
        attention(QUERY, memory_mask=mask, **_memory(attention, values))
    assert str(values.shape if mask is None else mask.shape) in str(error.value)


def _memory(attention, values):
    heads = isinstance(attention, layers.MultiHeadAttention)
    return {"memory" if heads else "values": values}


@pytest.mark.parametrize(
    ("words", "mask"),
    [(VALUES[0], None), (VALUES, np.ones((2, 4), bool)), (VALUES, np.ones((1, 5), bool))],
    ids=["two axes", "another length", "another batch"],
)
def test_wrong_shapes_of_self_attention(words, mask):
    with pytest.raises(ValueError, match=r"Expected words \[batch, length, units\]"):
        layers.MultiHeadSelfAttention(4, 2)(words, mask=mask)


class WithoutAnAxis(Score):
    """Score that forgets the axis of the positions of a query of rank 3."""

    def call(self, query, keys):
        return ops.sum(query - keys, axis=-1)


class Nothing(Score):
    """Score that returns nothing."""

    def call(self, query, keys):
        return None


HISTORIES = {
    "coverage": lambda: Attention("dot", coverage=layers.Coverage()),
    "means": lambda: layers.GaussianAttention(4),
    "position": lambda: Attention("dot", layers.LocalMonotonicWindow(1)),
    "previous": lambda: layers.MonotonicAttention("dot"),
}


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_without_the_axis_of_the_queries(name, length):
    attention = HISTORIES[name]()
    history = attention.initial_history(np.ones((2, 5), bool))
    message = rf"Expected {name} .* axes \(2, {length}\).* query of shape \(2, {length}, 4\)"
    with pytest.raises(ValueError, match=message):
        attention(QUERY[:, :length], values=VALUES, **history)


def test_one_position_of_all_queries():
    attention = HISTORIES["position"]()
    weights = [
        attention(QUERY[:, 0], values=VALUES, position=np.array(one))[1] for one in (1, [1, 1])
    ]
    np.testing.assert_array_equal(*weights)


def test_the_position_after_queries_without_one():
    with pytest.raises(ValueError, match=r"Expected position.* Received: position=None\. Begin"):
        HISTORIES["position"]()(QUERY, values=VALUES, return_history=True)


@pytest.mark.parametrize("kind", [WithoutAnAxis, Nothing])
def test_scores_of_another_shape(kind):
    ones = np.ones((2, 7, 3), "float32")
    received = r"shape \(2, 7\)" if kind is WithoutAnAxis else "None"
    message = rf"of shape \(2, 7, 7\) from {kind.__name__}\.call: .* Received: {received}\."
    with pytest.raises(ValueError, match=message):
        Attention(kind())(ones, values=ones)
    with pytest.raises(ValueError, match=rf"from {kind.__name__}\.call"):
        Attention(kind())(keras.Input((None, 3)), values=keras.Input((None, 3)))
    previous, mask = np.ones((2, 7, 7), "float32"), np.ones((2, 7), bool)
    chunks = layers.MonotonicAttention("dot", chunk_size=2, chunk_score=kind())
    for attention in (layers.MonotonicAttention(kind()), chunks):
        with pytest.raises(ValueError, match=message):
            attention(ones, values=ones, previous=previous)
    for alignment in (layers.IndependentAlignment(kind()), layers.MonotonicAlignment(kind())):
        alignment.build(ones.shape, ones.shape)
        with pytest.raises(ValueError, match=message):
            alignment(ones, ones, mask)


@pytest.mark.parametrize("part", ["window", "coverage", "penalty"])
def test_parts_that_are_no_layers(part):
    with pytest.raises(ValueError, match=rf"a layer or None as {part}, .* {part}='local'"):
        Attention("dot", **{part: "local"})


def test_concat_is_the_additive_score():
    query, values = (np.ones((1, 2, 3), "float32") * size for size in (1, 2))
    one, other = Attention("concat"), Attention("additive")
    one(query, values=values)
    other(query, values=values)
    other.set_weights(one.get_weights())
    np.testing.assert_array_equal(one(query, values=values)[0], other(query, values=values)[0])
    assert type(one.score) is AdditiveScore and one.get_config()["score"] == "concat"
