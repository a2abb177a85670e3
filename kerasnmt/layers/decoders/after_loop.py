"""Gradients of the factors of a loop, computed after the loop."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras import ops

# JAX compiles a loop and its gradient as a whole, and PyTorch runs eagerly.
_AFTER_LOOP = keras.backend.backend() == "tensorflow"


def with_gradients(inputs: Any, factors: Sequence[Any], lefts: Callable[[], list[Any]]) -> Any:
    """Return the inputs of a loop, whose gradients give the gradients of its factors.

    In each step, the loop adds products to its inputs:

        x_t + sum_f left_{f,t} factor_f

    So the gradient of a factor is sum_t left_t^T dx_t. This is one product after the loop, instead
    of a product and a sum of large tensors in every step. Inside the loop, use `in_loop(factor)`,
    so that no step computes the gradient of the factor.

    Only first derivatives are right: a gradient of this gradient lacks the terms of the factors
    inside the loop.

    Args:
        inputs: x, `[batch, target_length, size]`.
        factors: Tensors `[batch, source_length, size]`.
        lefts: Function that returns the left factors of all steps,
            `[batch, target_length, source_length]` each. It is called after the loop, when
            gradients are computed.

    Returns:
        The inputs.
    """
    if not _AFTER_LOOP:
        return inputs

    @ops.custom_gradient
    def identity(inputs: Any, *factors: Any) -> tuple:
        def gradient(upstream: Any) -> tuple:
            rows = [ops.cast(ops.transpose(left, (0, 2, 1)), upstream.dtype) for left in lefts()]
            return upstream, *(ops.matmul(row, upstream) for row in rows)

        return ops.copy(inputs), gradient

    return identity(inputs, *factors)


def in_loop(factor: Any) -> Any:
    """Return a factor for the steps of a loop; see `with_gradients`."""
    return ops.stop_gradient(factor) if _AFTER_LOOP else factor
