"""Arrays as JSON, for the pipe between a process and the one that serves for it.

Strings are UTF-8 with `surrogateescape`: bytes that are not UTF-8 come back as they were.
"""

from typing import Any

import numpy as np


def to_json(array: np.ndarray) -> dict[str, Any]:
    """Describes an array by values that JSON can write.

    Args:
        array: An array of numbers, or one of dtype `object` that holds `bytes`.

    Returns:
        Its `dtype`, `shape` and `values`, flat and in row-major order.
    """
    values = array.ravel().tolist()
    if array.dtype == object:
        values = [value.decode("utf-8", "surrogateescape") for value in values]
    return {"dtype": str(array.dtype), "shape": array.shape, "values": values}


def from_json(description: dict[str, Any]) -> np.ndarray:
    """Returns the array that `to_json` described."""
    values = description["values"]
    if description["dtype"] == "object":
        values = [value.encode("utf-8", "surrogateescape") for value in values]
    array = np.empty(description["shape"], description["dtype"])
    array.flat = values
    return array
