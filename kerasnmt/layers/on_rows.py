"""Applying a function of rows to tensors of any rank."""

from collections.abc import Callable
from typing import Any

from keras import ops


def on_rows(function: Callable[[Any], Any], tensor: Any) -> Any:
    """Apply a function `[rows, n] -> [rows]` to the last axis of a tensor.

    A product of a tensor of three axes and a matrix, as `ops.matmul` and `keras.layers.Dense` make
    it in TensorFlow, has a gradient that XLA cannot compile within a loop unless all sizes are
    known when it is traced, which those of batches of texts are not. A product of two matrices has.

    Args:
        function: takes a matrix, gives a vector.
        tensor: `[..., n]`.

    Returns:
        `[...]`.
    """
    return ops.reshape(
        function(ops.reshape(tensor, (-1, tensor.shape[-1]))), ops.shape(tensor)[:-1]
    )
