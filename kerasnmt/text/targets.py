"""Targets with their end token, and the decoder's inputs for targets."""

import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID


def with_end(ids: tf.RaggedTensor) -> tf.RaggedTensor:
    """Append the end token to ids, int32 `[batch, (length)]`."""
    return tf.concat([ids, tf.fill([ids.nrows(), 1], END_ID)], axis=1)


def padded(ids: tf.RaggedTensor) -> tf.Tensor:
    """Pad ids on the right with 0, to a size of at least 1 on all axes except the first.

    Without this minimum, an empty batch would have a length of 0, for which loops fail.

    Args:
        ids: Ids, int32 `[batch, (words)]` or `[batch, (sentences), (words)]`.

    Returns:
        The padded ids, int32 `[batch, words]` or `[batch, sentences, words]`.
    """
    sizes = tf.maximum(ids.bounding_shape()[1:], 1)
    return ids.to_tensor(PAD_ID, shape=tf.concat([[ids.nrows()], sizes], axis=0))


def decoder_inputs(targets: tf.Tensor, vocabulary_size: int) -> tf.Tensor:
    """Return the decoder's inputs: the start token and the targets without their last token.

    Args:
        targets: Int32 `[batch, length]`, right-padded with 0.
        vocabulary_size: Number of ids that the decoder embeds. Extended ids, which are not below
            this number, become the unknown id.

    Returns:
        Int32 of the same shape, with the same padding.
    """
    known = tf.where(targets < vocabulary_size, targets, UNKNOWN_ID)
    start = tf.fill([tf.shape(targets)[0], 1], START_ID)
    # The shift moves the end token to a position of padding, where it is removed, or out of the
    # row.
    return tf.concat([start, known[:, :-1]], axis=1) * tf.cast(targets != PAD_ID, tf.int32)
