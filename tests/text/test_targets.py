"""Ids with an end token, and ids without some of them."""

import pytest
import tensorflow as tf

from kerasnmt.text.targets import kept, with_end

ROWS = [[], [5, 6], [], [7], [8, 9, 10], []]


@pytest.mark.parametrize("rows", [ROWS, [], [[]], [[4]]])
def test_the_end_token_is_appended_to_each_row(rows):
    ids = tf.ragged.constant(rows, tf.int32, ragged_rank=1)
    assert with_end(ids).to_list() == [[*row, 3] for row in rows]
    assert with_end(ids).dtype == tf.int32


@pytest.mark.parametrize("rows", [ROWS, [], [[]], [[4]]])
@pytest.mark.parametrize("least", [0, 7, 99])
def test_values_are_kept_in_their_rows(rows, least):
    ids = tf.ragged.constant(rows, tf.int32, ragged_rank=1)
    found = kept(ids, ids.flat_values >= least)
    assert found.to_list() == [[one for one in row if one >= least] for row in rows]
    assert found.nrows() == len(rows)
