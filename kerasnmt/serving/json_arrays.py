"""Arrays as JSON, for the pipe between a process and the one that serves for it.

Strings are UTF-8 with `surrogateescape`: bytes that are not UTF-8 come back as they were. Numbers
are the bytes of the array in base 64.
"""

import base64
from typing import Any

import numpy as np


def to_json(array: np.ndarray) -> dict[str, Any]:
    """Describes an array by values that JSON can write.

    Args:
        array: An array of numbers, or one of dtype `object` that holds `bytes`.

    Returns:
        Its `dtype`, `shape` and `values`, in row-major order.
    """
    if array.dtype == object:
        values = [value.decode("utf-8", "surrogateescape") for value in array.flat]
    else:
        values = base64.b64encode(array.tobytes()).decode()
    return {"dtype": str(array.dtype), "shape": array.shape, "values": values}


def from_json(description: dict[str, Any]) -> np.ndarray:
    """Returns the array that `to_json` described."""
    dtype, shape, values = (description[name] for name in ("dtype", "shape", "values"))
    if dtype == "object":
        array = np.empty(shape, object)
        array.flat = [value.encode("utf-8", "surrogateescape") for value in values]
        return array
    return np.frombuffer(bytearray(base64.b64decode(values)), dtype).reshape(shape)
