"""Entries of a table by their indices."""

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
    symbolic = any(isinstance(one, keras.KerasTensor) for one in (table, indices))
    if keras.backend.backend() != "tensorflow" or symbolic:
        return ops.take(table, indices, axis=axis)
    import tensorflow as tf

    return tf.gather(table, indices, axis=axis)
