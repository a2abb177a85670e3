"""Arrays as JSON, for the pipe between a process and the child that serves a model.

Strings are UTF-8 with `surrogateescape`, which restores bytes that are not UTF-8. Numbers are the
bytes of the array in base64.
"""

import base64
from typing import Any

import numpy as np


def to_json(array: np.ndarray) -> dict[str, Any]:
    """Describe an array with values of JSON.

    Args:
        array: An array of numbers, or an array of dtype `object` with `bytes`.

    Returns:
        A dict with `dtype`, `shape` and `values`, in row-major order.
    """
    if array.dtype == object:
        values: Any = [value.decode("utf-8", "surrogateescape") for value in array.flat]
    else:
        values = base64.b64encode(array.tobytes()).decode()
    return {"dtype": str(array.dtype), "shape": array.shape, "values": values}


def from_json(description: dict[str, Any]) -> np.ndarray:
    """Return the array that `to_json` has described."""
    dtype, shape, values = (description[name] for name in ("dtype", "shape", "values"))
    if dtype == "object":
        array: Any = np.empty(shape, object)
        array.flat = [value.encode("utf-8", "surrogateescape") for value in values]
        return array
    return np.frombuffer(bytearray(base64.b64decode(values)), dtype).reshape(shape)
