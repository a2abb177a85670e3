"""Values and masks of wrong shapes are one line for every attention."""

import numpy as np
import pytest

from kerasnmt import layers

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
