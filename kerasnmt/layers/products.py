"""Products of the matrices of each row of a batch."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops


def products(left: Any, right: Any) -> Any:
    """Multiply the matrices of each row.

    As `ops.matmul`, and faster for a search that runs in a graph for any number of sources when
    there is but one: TensorFlow shares out products of many matrices among the threads of a CPU,
    which for a few hypotheses of one source takes five times as long as one plain product.

    Args:
        left: `[batch, n, m]`.
        right: `[batch, m, units]`.

    Returns:
        `[batch, n, units]`.
    """
    batch, count, _ = ops.shape(left)
    known = isinstance(batch, int) or isinstance(left, keras.KerasTensor)
    # Where n is open as well, it is the length of targets, and so no search.
    if known or not isinstance(count, int):
        return ops.matmul(left, right)

    def of_one_row() -> Any:
        units = ops.shape(right)[2]
        first = ops.reshape(left[:1], (count, -1)), ops.reshape(right[:1], (-1, units))
        # TensorFlow's optimizer would take a batch of 1 for granted in the other branch too; and a
        # shape that is computed would keep XLA from compiling the gradient.
        return ops.expand_dims(ops.matmul(*first), 0) + ops.zeros_like(left[..., :1])

    return ops.cond(ops.equal(batch, 1), of_one_row, lambda: ops.matmul(left, right))


def on_rows(function: Callable[[Any], Any], tensor: Any) -> Any:
    """Apply a function of the rows of a matrix to the last axis of a tensor.

    A product of a tensor of three axes and a matrix, as `ops.matmul` and `keras.layers.Dense` make
    it in TensorFlow, asks for its sizes by nine ops, which for the few rows of a search take longer
    than the product; and it has a gradient that XLA cannot compile within a loop unless all sizes
    are known when it is traced, which those of batches of texts are not. A product of two matrices
    has neither.

    Args:
        function: Takes a matrix `[rows, n]` and gives `[rows]` or `[rows, m]`, for example a
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
