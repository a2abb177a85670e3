"""Gradients of the factors of a loop, computed after the loop."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import keras
from keras import ops

# JAX compiles a loop and its gradient as a whole, and PyTorch runs eagerly.
_AFTER_LOOP = ContextVar("after_loop", default=keras.backend.backend() == "tensorflow")


@contextmanager
def after_loop_if(training: bool) -> Iterator[None]:
    """Use plain loops unless a model trains, so that an export holds no gradients."""
    token = _AFTER_LOOP.set(_AFTER_LOOP.get() and training)
    try:
        yield
    finally:
        _AFTER_LOOP.reset(token)


def gradients_after_loop(
    loop: Callable[[Any], tuple[Any, ...]],
    inputs: Any,
    factors: Sequence[Any],
    lefts: Callable[..., Sequence[Any]],
) -> tuple[Any, ...]:
    """Return `loop(inputs)`, whose gradients of the factors are computed after the loop.

    In each step, the loop adds products to its inputs:

        x_t + sum_f left_{f,t} factor_f

    So the gradient of a factor is sum_t left_t^T dx_t. This is one product after the loop, instead
    of a product and a sum of large tensors in every step. Inside the loop, use `in_loop(factor)`,
    so that no step computes the gradient of the factor.

    Args:
        loop: Function of the inputs, which returns a tuple of tensors.
        inputs: x, `[batch, target_length, size]`.
        factors: Tensors `[batch, source_length, size]`.
        lefts: Function of the tensors that `loop` returns. It returns the left factors of all
            steps, `[batch, target_length, source_length]` each. It is called when gradients are
            computed.

    Returns:
        What `loop` returns. A second derivative would lack the terms of the factors inside the
        loop, so it raises a `ValueError`.
    """
    if not _AFTER_LOOP.get():
        return loop(inputs)

    @ops.custom_gradient
    def identity(inputs: Any, *factors: Any) -> tuple:
        def gradient(upstream: Any) -> tuple:
            rows = [
                ops.cast(ops.transpose(left, (0, 2, 1)), upstream.dtype) for left in lefts(*outputs)
            ]
            return upstream, *(ops.matmul(row, upstream) for row in rows)

        return ops.copy(inputs), gradient

    outputs = loop(identity(inputs, *factors))
    return _differentiable_once(outputs, factors)


def in_loop(factor: Any) -> Any:
    """Return a factor for the steps of a loop; see `gradients_after_loop`."""
    return ops.stop_gradient(factor) if _AFTER_LOOP.get() else factor


def _differentiable_once(outputs: Sequence[Any], factors: Sequence[Any]) -> tuple[Any, ...]:
    """Return the outputs. A derivative of their gradient, also to the factors, raises an error."""

    @ops.custom_gradient
    def first(*tensors: Any) -> tuple:
        def gradient(*upstream: Any) -> tuple:
            return *second(*upstream, *factors), *(None for _ in factors)

        return tensors[: len(outputs)], gradient

    @ops.custom_gradient
    def second(*tensors: Any) -> tuple:
        def gradient(*upstream: Any) -> None:
            raise ValueError(
                "Expected a first derivative of a loop whose gradients are computed after it. "
                "Received: a second derivative. Set `value_names = ()` of the decoder cell first."
            )

        return tensors[: len(outputs)], gradient

    return first(*outputs, *factors)
