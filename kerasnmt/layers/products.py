"""Matrix products that are fast for the few rows of a search."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops


def products(left: Any, right: Any) -> Any:
    """Multiply the matrices of each row of a batch.

    The result equals `ops.matmul`. In a graph for any number of sources, this function is
    faster if there is only one source: TensorFlow splits batched products among the threads of a
    CPU. For a few hypotheses of one source, this takes five times as long as one plain product.

    Args:
        left: `[batch, n, m]`.
        right: `[batch, m, units]`.

    Returns:
        `[batch, n, units]`.
    """
    batch, count, _ = ops.shape(left)
    known = isinstance(batch, int) or isinstance(left, keras.KerasTensor)
    # If n is unknown too, it is a target length, so this is not a search.
    if known or not isinstance(count, int):
        return ops.matmul(left, right)

    def of_one_row() -> Any:
        units = ops.shape(right)[2]
        first = ops.reshape(left[:1], (count, -1)), ops.reshape(right[:1], (-1, units))
        # The sum with zeros keeps the batch size unknown. Otherwise, TensorFlow's optimizer would
        # assume a batch of 1 in the other branch too. XLA cannot compile the gradient of a reshape
        # to a computed shape, which would also work.
        return ops.expand_dims(ops.matmul(*first), 0) + ops.zeros_like(left[..., :1])

    return ops.cond(ops.equal(batch, 1), of_one_row, lambda: ops.matmul(left, right))


def on_rows(function: Callable[[Any], Any], tensor: Any) -> Any:
    """Apply a function of a matrix to a tensor with any number of axes.

    In TensorFlow, `ops.matmul` and `keras.layers.Dense` need nine extra ops for the sizes to
    multiply a tensor of three axes by a matrix. For the few rows of a search, these take longer
    than the product. Also, XLA cannot compile the gradient of this product in a loop unless all
    sizes are known when the graph is traced; the sizes of text batches are not. A product of two
    matrices has neither problem.

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
    made = function(ops.reshape(tensor, (-1, tensor.shape[-1])))
    leading = tensor.shape[:-1]
    if list(leading).count(None) > 1:
        leading = ops.shape(tensor)[:-1]
    return ops.reshape(made, (*(-1 if n is None else n for n in leading), *made.shape[1:]))
