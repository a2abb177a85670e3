import warnings

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import batches, describe_batches
from kerasnmt.data.batch_statistics import statistics_of, unknown_tokens
from kerasnmt.data.text_batches import counted_batches
from kerasnmt.text import CharacterTokenizer

LETTERS = CharacterTokenizer("ab")


def test_the_counts_by_hand():
    pairs = [("a", "b"), ("ab", "a"), ("aaaa", "bbbbbbb"), ("a" * 9, "a" * 5), ("", "a")]
    dataset = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*pairs, strict=True))))
    statistics = describe_batches(batches(dataset, LETTERS, batch_size=2))
    # With end tokens 2 3 5 | 10 and 2 2 8 | 6, three of width 8 and one of width 10.
    assert statistics.batches == 3
    assert statistics.sentences == 4
    assert statistics.source_tokens == 20
    assert statistics.target_tokens == 18
    assert statistics.source_padding == pytest.approx(14 / 34)
    assert statistics.target_padding == pytest.approx(16 / 34)
    assert statistics.padding_share == pytest.approx(30 / 68)
    assert statistics.shapes == {(1, 8, 8): 1, (1, 10, 10): 1, (2, 8, 8): 1}
    assert statistics.lengths == {
        "source": [0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1],
        "target": [0, 0, 2, 0, 0, 0, 1, 0, 1],
    }


def test_rows_of_padding_are_not_counted():
    dataset = batches([("a", "b"), ("ab", "a")], LETTERS, batch_size=3, fill=True)
    statistics = describe_batches(dataset)
    assert statistics.shapes == {(3, 8, 8): 1}
    assert statistics.sentences == 2
    assert statistics.source_tokens == 5 and statistics.target_tokens == 4
    assert statistics.lengths == {"source": [0, 0, 1, 1], "target": [0, 0, 2]}


def test_batches_of_padding_alone():
    zeros = np.zeros((2, 8), "int32")
    statistics = statistics_of([({"source_ids": zeros}, zeros, zeros)])
    assert statistics.batches == 1 and statistics.sentences == 0
    assert statistics.lengths == {"source": [], "target": []}


def test_no_batch_is_refused():
    pairs = tf.data.Dataset.from_tensor_slices((["aaaa", ""], ["b", "b"]))
    dataset = batches(pairs, LETTERS, max_length=3)
    assert list(dataset) == []
    with pytest.raises(
        ValueError, match=r"at least one batch. Received: an empty dataset. .* max_length"
    ):
        describe_batches(dataset)


def test_unknown_tokens_are_counted_and_named():
    pairs = [("ab", "xy"), ("a", "b"), ("x", "xb")]
    unknown = describe_batches(batches(pairs, LETTERS, batch_size=2)).unknown
    assert unknown == pytest.approx({"source": 1 / 4, "target": 3 / 5})
    assert unknown_tokens({"source": 0.5, "target": 0.5}) is None
    assert unknown_tokens(unknown).startswith("25% of the source tokens and 60% of the target")


def test_fit_warns_of_swapped_tokenizers():
    source, target = CharacterTokenizer("abc"), CharacterTokenizer("xyz")
    pairs = [("ab", "xy")] * 3
    with pytest.warns(UserWarning, match="100% of the source tokens and 100% .* swapped"):
        counted_batches(pairs, target, source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counted_batches(pairs, source, target)
