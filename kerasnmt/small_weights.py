"""Number formats for small copies of the weights of a model.

Only matrices are converted. Vectors, such as biases, are small and stay unchanged.
"""

from collections.abc import Collection, Sequence

import numpy as np


def check_weights(weights: str, formats: Collection[str]) -> None:
    """Check that a number format is known.

    Raises:
        ValueError: If it is not.
    """
    if weights not in formats:
        raise ValueError(
            f"Expected weights to be one of {', '.join(formats)}. Received: weights={weights!r}"
        )


def is_matrix(shape: Sequence[int]) -> bool:
    """Return whether weights of this shape are a matrix, with more than one axis longer than 1."""
    return sum(size > 1 for size in shape) > 1


def as_float16(values: np.ndarray, name: str, remedy: str) -> np.ndarray:
    """Return values as float16.

    Args:
        values: Weights, float32.
        name: Name of the weights, used in error messages.
        remedy: Remedy in the error message, such as "Export with weights='float32'."

    Raises:
        ValueError: If a value is not finite, or too large for float16.
    """
    _check_finite(values, name)
    most = np.finfo("float16").max
    largest = np.abs(values).max(initial=0)
    if largest > most:
        raise ValueError(
            f"Expected weights of at most {most:,.0f} for float16. Received: {name} with "
            f"{largest:,.0f}. {remedy}"
        )
    return values.astype("float16")


def as_int8(values: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return values as integers from -127 to 127, and float32 scales to multiply them by.

    Either each row or each column of a matrix has a scale, depending on which loses less precision.

    Args:
        values: A matrix, float32. If it has more axes, the first or the last axis has the scales;
            if it has three, as those of the directions of a recurrent layer, also both of two axes.
        name: Name of the weights, used in error messages.

    Returns:
        int8 values of the same shape, and float32 scales of a shape that broadcasts to it.

    Raises:
        ValueError: If a value is not finite.
    """
    _check_finite(values, name)
    axes = [{values.ndim - 1}, {0}, *([{0, 1}, {0, 2}] if values.ndim == 3 else [])]
    pairs = [_quantized(values, kept) for kept in axes]
    return min(pairs, key=lambda pair: np.square(pair[0] * pair[1] - values).sum())


def _check_finite(values: np.ndarray, name: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            f"Expected finite weights. Received: {name} with NaN or infinite values. Train again "
            "from a checkpoint with finite weights."
        )


def _quantized(values: np.ndarray, kept: set[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return int8 values, and a float32 scale for each index of the axes `kept`."""
    others = tuple({*range(values.ndim)} - kept)
    scales = np.abs(values).max(axis=others, keepdims=True) / 127
    scales = np.where(scales == 0, 1, scales).astype("float32")
    return np.round(values / scales).astype("int8"), scales
