"""Matrix products that are fast for the few rows of a search."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops


def products(left: Any, right: Any) -> Any:
    """Multiply the matrices of each row of a batch.

    This equals `ops.matmul`. It is faster in the graph of a search over any number of sources when
    there is only one: TensorFlow splits batched products among the threads of a CPU, which for a
    few hypotheses of one source takes five times as long as one plain product.

    Args:
        left: `[batch, n, m]`.
        right: `[batch, m, units]`.

    Returns:
        `[batch, n, units]`.
    """
    batch, count, _ = ops.shape(left)
    known = isinstance(batch, int) or isinstance(left, keras.KerasTensor)
    # If n is unknown too, it is the length of targets, so this is not a search.
    if known or not isinstance(count, int):
        return ops.matmul(left, right)

    def of_one_row() -> Any:
        units = ops.shape(right)[2]
        first = ops.reshape(left[:1], (count, -1)), ops.reshape(right[:1], (-1, units))
        # Adding zeros keeps the batch size unknown: otherwise TensorFlow's optimizer would assume a
        # batch of 1 in the other branch too. A reshape to a computed shape would also do, but XLA
        # could not compile its gradient.
        return ops.expand_dims(ops.matmul(*first), 0) + ops.zeros_like(left[..., :1])

    return ops.cond(ops.equal(batch, 1), of_one_row, lambda: ops.matmul(left, right))


def on_rows(function: Callable[[Any], Any], tensor: Any) -> Any:
    """Apply a function of a matrix's rows to the last axis of a tensor.

    In TensorFlow, `ops.matmul` and `keras.layers.Dense` multiply a tensor of three axes by a matrix
    with nine extra ops for the sizes. For the few rows of a search these take longer than the
    product. In a loop, XLA cannot compile the gradient of this product unless all sizes are known
    when the graph is traced, and the sizes of text batches are not. A product of two matrices has
    neither problem.

    Args:
        function: Function from a matrix `[rows, n]` to `[rows]` or `[rows, ...]`, for example a
            `keras.layers.Dense`.
        tensor: `[..., n]`.

    Returns:
        `[...]` or `[..., m]`.
    """
    # On a symbolic tensor no op runs yet; without features, -1 in a shape would be ambiguous.
    symbolic = isinstance(tensor, keras.KerasTensor)
    if symbolic or len(tensor.shape) == 2 or tensor.shape[-1] == 0:
        return function(tensor)
    made = function(ops.reshape(tensor, (-1, tensor.shape[-1])))
    leading = tensor.shape[:-1]
    if list(leading).count(None) > 1:
        leading = ops.shape(tensor)[:-1]
    return ops.reshape(made, (*(-1 if n is None else n for n in leading), *made.shape[1:]))
