"""Random numbers that depend on the content of a row, not on its position in a batch."""

import math
from typing import Any

import keras
from keras import ops, tree


def row_keys(inputs: Any, pad_id: int) -> Any:
    """Hash each row to one number, which does not depend on the padding of ids.

    Args:
        inputs: Structure of tensors: ids, integers `[batch, length]`, right-padded; or floats
            `[batch, ...]`.
        pad_id: Token that pads ids.

    Returns:
        Uint32 `[batch]`.
    """
    keys = _number(0)
    for tensor in tree.flatten(inputs):
        keys = _mix(keys) + _folded(tensor, pad_id)
    return keys


def _folded(tensor: Any, pad_id: int) -> Any:
    """Hash each row of a tensor to one number, uint32 `[batch]`."""
    if keras.backend.is_float_dtype(tensor.dtype):
        tensor = ops.view(ops.cast(tensor, "float32"), "int32")  # bits of each number
    if len(tensor.shape) > 2:
        tensor = ops.reshape(tensor, (-1, math.prod(tensor.shape[1:])))
    positions = ops.cast(ops.arange(ops.shape(tensor)[1], dtype="int32"), "uint32")
    mixed = _mix(_mix(ops.cast(tensor, "uint32")) + _mix(positions + _number(1)))
    return ops.sum(ops.where(ops.equal(tensor, pad_id), _number(0), mixed), axis=1)


def uniforms(keys: Any, seed: int, shape: tuple[int, ...]) -> Any:
    """Draw uniform random numbers for each key.

    The finalizer of MurmurHash3 (Appleby) mixes each key with a counter.

    Args:
        keys: Keys from `row_keys`, uint32 `[batch]`.
        seed: Seed of the random numbers.
        shape: Shape of the random numbers of one key.

    Returns:
        Float32 `[batch, *shape]`, in [0, 1).
    """
    counters = ops.cast(ops.arange(math.prod(shape), dtype="int32"), "uint32")
    keys = _mix(keys + _mix(_number(seed) + _number(1)))
    numbers = _mix(keys[:, None] + _mix(counters + _number(1)))
    # Keep the upper 24 bits, the precision of float32.
    numbers = ops.cast(ops.right_shift(numbers, _number(8)), "float32") * 2.0**-24
    return ops.reshape(numbers, (-1, *shape))


def _mix(x: Any) -> Any:
    """Make every bit of a uint32 depend on every other bit."""
    x = ops.bitwise_xor(x, ops.right_shift(x, _number(16))) * _number(0x85EBCA6B)
    x = ops.bitwise_xor(x, ops.right_shift(x, _number(13))) * _number(0xC2B2AE35)
    return ops.bitwise_xor(x, ops.right_shift(x, _number(16)))


def _number(value: int) -> Any:
    return ops.convert_to_tensor(value, "uint32")
