"""The random numbers of `kerasnmt.decoding` in NumPy: they depend on the content of a row."""

from collections.abc import Mapping

import numpy as np

from kerasnmt.ids import PAD_ID


def row_keys(inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """Hash the inputs of each row to one number; see `kerasnmt.decoding.random_numbers`.

    Args:
        inputs: Ids, integers `[batch, length]`, padded on the right with 0; or floats
            `[batch, ...]`.

    Returns:
        Uint32 `[batch]`.
    """
    keys = np.zeros(1, "uint32")
    for name in sorted(inputs):
        keys = _mix(keys) + _folded(inputs[name])
    return keys


def uniforms(keys: np.ndarray, seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Draw uniform random numbers for each key, float32 `[batch, *shape]`, in [0, 1)."""
    counters = np.arange(np.prod(shape), dtype="uint32")
    keys = _mix(keys + _mix(np.array([seed], "uint32") + np.uint32(1)))
    numbers = _mix(keys[:, None] + _mix(counters + np.uint32(1)))
    # Keep the upper 24 bits, the precision of float32.
    return ((numbers >> 8).astype("float32") * np.float32(2.0**-24)).reshape(-1, *shape)


def _folded(array: np.ndarray) -> np.ndarray:
    """Hash each row of an array to one number, uint32 `[batch]`."""
    if array.dtype.kind == "f":
        array = array.astype("float32").view("int32")  # bits of each number
    array = array.reshape(len(array), -1)
    positions = np.arange(array.shape[1], dtype="uint32")
    mixed = _mix(_mix(array.astype("uint32")) + _mix(positions + np.uint32(1)))
    return np.where(array == PAD_ID, np.uint32(0), mixed).sum(axis=1, dtype="uint32")


def _mix(numbers: np.ndarray) -> np.ndarray:
    """Make every bit of a uint32 depend on every other bit, as MurmurHash3 (Appleby) does."""
    numbers = (numbers ^ (numbers >> 16)) * np.uint32(0x85EBCA6B)
    numbers = (numbers ^ (numbers >> 13)) * np.uint32(0xC2B2AE35)
    return numbers ^ (numbers >> 16)
