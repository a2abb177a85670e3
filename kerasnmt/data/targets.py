"""Targets, and the inputs of a decoder for them."""

import tensorflow as tf

from kerasnmt.ids import END_ID, START_ID


def with_end(ids: tf.RaggedTensor) -> tf.RaggedTensor:
    """Append the end token to ids, int32 `[batch, (length)]`."""
    return tf.concat([ids, tf.fill([ids.nrows(), 1], END_ID)], axis=1)


def moved_by_one(targets: tf.Tensor) -> tf.Tensor:
    """Return the decoder's inputs: the start token, then the targets without the last one.

    Args:
        targets: Int32 `[batch, length]`, right-padded with 0.

    Returns:
        Int32 of the same shape, with the same padding.
    """
    start = tf.fill([tf.shape(targets)[0], 1], START_ID)
    # The end token moves to a position of padding, or out of the row, and is removed.
    return tf.concat([start, targets[:, :-1]], axis=1) * tf.cast(targets != 0, tf.int32)
