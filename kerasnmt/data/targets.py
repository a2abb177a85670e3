"""Targets, and what a decoder is fed to answer with them."""

import tensorflow as tf

from kerasnmt.ids import END_ID, START_ID


def with_end(ids: tf.RaggedTensor) -> tf.RaggedTensor:
    """Adds the end token to ids, int32 `[batch, (length)]`."""
    return tf.concat([ids, tf.fill([ids.nrows(), 1], END_ID)], axis=1)


def moved_by_one(targets: tf.Tensor) -> tf.Tensor:
    """Returns what the decoder is fed, to answer with the targets: the start token, then they.

    Args:
        targets: Int32 `[batch, length]`, right-padded with 0.

    Returns:
        Int32 of the same shape, padded where the targets are.
    """
    start = tf.fill([tf.shape(targets)[0], 1], START_ID)
    # The end token lands where the targets have padding, or falls off.
    return tf.concat([start, targets[:, :-1]], axis=1) * tf.cast(targets != 0, tf.int32)
