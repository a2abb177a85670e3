"""Functions of matrices, applied to tensors with more axes."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops


def on_rows(function: Callable[[Any], Any], tensor: Any) -> Any:
    """Apply a function of a matrix to a tensor with any number of axes.

    XLA cannot compile the gradient of the product of a tensor of three axes and a matrix in a loop
    unless all sizes are known when the graph is traced; the sizes of text batches are not. Also,
    TensorFlow needs nine extra ops for these sizes. A product of two matrices has neither problem.

    Args:
        function: Function from a matrix `[rows, n]` to `[rows]` or `[rows, ...]`, for example a
            `keras.layers.Dense`.
        tensor: `[..., n]`.

    Returns:
        `[...]` or `[..., m]`.
    """
    # A symbolic tensor runs no ops. For a tensor without features, -1 in a shape is ambiguous.
    symbolic = isinstance(tensor, keras.KerasTensor)
    if symbolic or len(tensor.shape) == 2 or tensor.shape[-1] == 0:
        return function(tensor)
    outputs = function(ops.reshape(tensor, (-1, tensor.shape[-1])))
    leading, further = tensor.shape[:-1], outputs.shape[1:]
    if list(leading).count(None) > 1:
        leading = ops.shape(tensor)[:-1]
    if None in further:
        further = ops.shape(outputs)[1:]
    return ops.reshape(outputs, (*(-1 if n is None else n for n in leading), *further))
