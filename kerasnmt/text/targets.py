"""Targets with their end token, and the decoder's inputs for targets."""

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID


def with_end(ids: tf.RaggedTensor) -> tf.RaggedTensor:
    """Append the end token to ids, int32 `[batch, (length)]`."""
    # `tf.concat` of ragged tensors takes a hundred ops, and `value_rowids` takes sixty.
    count = ids.nrows()
    ends = ids.row_splits[1:] + tf.range(count)
    places, _ = tf.raw_ops.ListDiff(x=tf.range(tf.size(ids.values, ends.dtype) + count), y=ends)
    values = tf.dynamic_stitch(
        [tf.cast(places, tf.int32), tf.cast(ends, tf.int32)],
        [ids.values, tf.fill(tf.shape(ends), END_ID)],
    )
    splits = tf.concat([ids.row_splits[:1], ends + 1], axis=0)
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def kept(ids: tf.RaggedTensor, where: tf.Tensor) -> tf.RaggedTensor:
    """Keep the values `[batch, (length)]` where a mask of the flat values is True."""
    values, rows = taken((ids.flat_values, ids.value_rowids()), where)
    return tf.RaggedTensor.from_value_rowids(values, rows, ids.nrows(), validate=False)


def taken(values: Iterable[Any], where: tf.Tensor) -> list[Any]:
    """Take the entries of tensors where a mask `[n]` is True.

    `tf.boolean_mask` takes thirty ops, and `tf.ragged.boolean_mask` a hundred.
    """
    places = tf.squeeze(tf.where(where), 1)
    return [tf.gather(one, places) for one in values]


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
