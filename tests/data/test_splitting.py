import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import split_evenly


def test_rows_are_filled_up():
    batch = ({"source_ids": tf.ones([5, 2], tf.int32)}, tf.ones([5, 3], tf.int32), tf.ones([5, 3]))
    (inputs, targets, weights) = next(
        iter(split_evenly(tf.data.Dataset.from_tensors(batch), 4).as_numpy_iterator())
    )
    np.testing.assert_array_equal(inputs["source_ids"], [[1, 1]] * 5 + [[0, 0]] * 3)
    np.testing.assert_array_equal(targets, weights)
    assert weights.shape == (8, 3)
    assert weights.sum() == 15
    even = split_evenly(tf.data.Dataset.from_tensors(batch), 5)
    assert next(iter(even))[1].shape == (5, 3)
    alone = split_evenly(tf.data.Dataset.from_tensors(batch), 1)
    assert next(iter(alone))[1].shape == (5, 3)
    with pytest.raises(ValueError, match=r"replicas to be at least 1\. Received: replicas=0"):
        split_evenly(even, 0)
