"""Applying a function of rows to tensors of any rank."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops


def on_rows(function: Callable[[Any], Any], tensor: Any) -> Any:
    """Apply a function of the rows of a matrix to the last axis of a tensor.

    A product of a tensor of three axes and a matrix, as `ops.matmul` and `keras.layers.Dense` make
    it in TensorFlow, asks for its sizes by nine ops, which for the few rows of a search take longer
    than the product; and it has a gradient that XLA cannot compile within a loop unless all sizes
    are known when it is traced, which those of batches of texts are not. A product of two matrices
    has neither.

    Args:
        function: takes a matrix `[rows, n]` and gives `[rows]` or `[rows, m]`, for example a
            `keras.layers.Dense`.
        tensor: `[..., n]`.

    Returns:
        `[...]` or `[..., m]`.
    """
    # No sizes are asked for yet of a symbolic tensor, and none can be of one without features.
    symbolic = isinstance(tensor, keras.KerasTensor)
    if symbolic or len(tensor.shape) == 2 or tensor.shape[-1] == 0:
        return function(tensor)
    made = function(ops.reshape(tensor, (-1, tensor.shape[-1])))
    leading = tensor.shape[:-1]
    if list(leading).count(None) > 1:
        leading = ops.shape(tensor)[:-1]
    return ops.reshape(made, (*(-1 if n is None else n for n in leading), *made.shape[1:]))
