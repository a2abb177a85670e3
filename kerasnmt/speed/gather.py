"""Entries of a table by their indices."""

import math
from typing import Any

import keras
from keras import ops


def gather(table: Any, indices: Any, axis: int = 0) -> Any:
    """Return `ops.take(table, indices, axis)` for indices that are not negative.

    On TensorFlow, `ops.take` has six ops and a slice for negative indices.

    Args:
        table: Tensor with n entries along the axis.
        indices: Integers in `[0, n)`.
        axis: Axis of the entries.
    """
    if not _on_tensorflow(table, indices):
        return ops.take(table, indices, axis=axis)
    import tensorflow as tf

    return tf.gather(table, indices, axis=axis)


def take_rows(table: Any, indices: Any, axis: int = 1) -> Any:
    """Take entries of a table along an axis, those of each row by indices of its own.

    On TensorFlow, `ops.take_along_axis` has about 50 ops, for negative indices and for axes to
    broadcast.

    Args:
        table: `[*rows, n, *entry]`, where `rows` are `axis` axes.
        indices: Integers `[*rows, *new]` in `[0, n)`.
        axis: Axis of the entries.

    Returns:
        `[*rows, *new, *entry]`.
    """
    if _on_tensorflow(table, indices):
        import tensorflow as tf

        return tf.gather(table, indices, axis=axis, batch_dims=axis)
    return plain_take_rows(table, indices, axis)


def plain_take_rows(table: Any, indices: Any, axis: int = 1) -> Any:
    """Return `take_rows(table, indices, axis)`, with operations of Keras."""
    if axis + 1 == len(table.shape) == len(indices.shape):
        return ops.take_along_axis(table, indices, axis=axis)
    *rows, count = ops.shape(table)[: axis + 1]
    starts = ops.arange(math.prod(rows), dtype="int32") * count
    starts = ops.reshape(starts, (-1, *rows[1:], *[1] * (len(indices.shape) - axis)))
    joined = ops.reshape(table, (-1, *ops.shape(table)[axis + 1 :]))
    return ops.take(joined, starts + indices, axis=0)


def _on_tensorflow(*values: Any) -> bool:
    symbolic = any(isinstance(value, keras.KerasTensor) for value in values)
    return keras.backend.backend() == "tensorflow" and not symbolic
