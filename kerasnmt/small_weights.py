"""Number formats that make a copy of a model's weights small.

Only matrices change their format. Vectors, such as biases, are few numbers, and stay as they are.
"""

from collections.abc import Sequence

import numpy as np


def is_matrix(shape: Sequence[int]) -> bool:
    """Return whether weights of this shape are a matrix: more than one axis has several indices."""
    return sum(size > 1 for size in shape) > 1


def as_float16(values: np.ndarray, name: str, remedy: str) -> np.ndarray:
    """Return values as float16.

    Args:
        values: Weights, float32.
        name: What the weights are called in an error.
        remedy: What to do about an error, such as "Export with weights='float32'."

    Raises:
        ValueError: If a value is not finite, or too large for float16.
    """
    _check_finite(values, name)
    most = np.finfo("float16").max
    largest = np.abs(values).max(initial=0)
    if largest > most:
        raise ValueError(
            f"Expected weights of at most {most:,.0f}, for float16. Received: {name} with "
            f"{largest:,.0f}. {remedy}"
        )
    return values.astype("float16")


def as_int8(values: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return values as integers from -127 to 127, and the float32 scales to multiply them by.

    Each row of a matrix has a scale, or each column, whichever loses less.

    Args:
        values: A matrix, float32; of more than two axes, the first or the last one has the scales.
        name: What the weights are called in an error.

    Returns:
        int8 values of the same shape, and float32 scales of a shape that broadcasts to it.

    Raises:
        ValueError: If a value is not finite.
    """
    _check_finite(values, name)
    first, last = 0, values.ndim - 1
    both = [_quantized(values, kept) for kept in (last, first)]
    return min(both, key=lambda pair: np.square(pair[0] * pair[1] - values).sum())


def _check_finite(values: np.ndarray, name: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            f"Expected finite weights. Received: {name} with NaN or infinite values. Train the "
            "model again from a checkpoint before the loss was lost."
        )


def _quantized(values: np.ndarray, kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Return int8 values and their float32 scales, one for each index of the axis `kept`."""
    others = tuple(axis for axis in range(values.ndim) if axis != kept)
    scales = np.abs(values).max(axis=others, keepdims=True) / 127
    scales = np.where(scales == 0, 1, scales).astype("float32")
    return np.round(values / scales).astype("int8"), scales
