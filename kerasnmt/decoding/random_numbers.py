"""Random numbers that depend on a row's content, not on its place in a batch."""

import math
from typing import Any

from keras import ops


def row_keys(ids: Any, pad_id: int) -> Any:
    """Fold the ids of each row into one number, which padding does not change.

    Args:
        ids: int32 `[batch, length]`, right-padded.
        pad_id: the padding.

    Returns:
        uint32 `[batch]`.
    """
    positions = ops.cast(ops.arange(ops.shape(ids)[1], dtype="int32"), "uint32")
    mixed = _mix(_mix(ops.cast(ids, "uint32")) + _mix(positions + _number(1)))
    return ops.sum(ops.where(ops.equal(ids, pad_id), _number(0), mixed), axis=1)


def uniforms(keys: Any, seed: int, shape: tuple[int, ...]) -> Any:
    """Draw numbers for each key.

    Source: the finalizer of MurmurHash3 (Appleby), which mixes a key with a counter.

    Args:
        keys: uint32 `[batch]`.
        seed: another seed draws other numbers.
        shape: how many numbers for a key.

    Returns:
        float32 `[batch, *shape]`, in [0, 1).
    """
    counters = ops.cast(ops.arange(math.prod(shape), dtype="int32"), "uint32")
    keys = _mix(keys + _mix(_number(seed) + _number(1)))
    numbers = _mix(keys[:, None] + _mix(counters + _number(1)))
    # The upper 24 bits: as many as float32 holds below 1.
    numbers = ops.cast(ops.right_shift(numbers, _number(8)), "float32") * 2.0**-24
    return ops.reshape(numbers, (-1, *shape))


def _mix(x: Any) -> Any:
    """Let every bit of an uint32 depend on every other."""
    x = ops.bitwise_xor(x, ops.right_shift(x, _number(16))) * _number(0x85EBCA6B)
    x = ops.bitwise_xor(x, ops.right_shift(x, _number(13))) * _number(0xC2B2AE35)
    return ops.bitwise_xor(x, ops.right_shift(x, _number(16)))


def _number(value: int) -> Any:
    return ops.convert_to_tensor(value, "uint32")
