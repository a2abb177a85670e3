"""Buffers, which are structures of tensors that a search fills step by step and reorders."""

from typing import Any

from keras import ops, tree

from kerasnmt.speed.gather import gather, take_rows


def allocate(example: Any, length: int) -> Any:
    """Return zeros `[length, ...]` for each tensor `[...]` of a structure, the values of a step."""
    return fill(tree.map_structure(ops.zeros_like, example), length)


def fill(values: Any, length: int) -> Any:
    """Repeat each tensor `[...]` of a structure for all steps, `[length, ...]`."""

    def repeat(value: Any) -> Any:
        return ops.broadcast_to(value[None], (length, *ops.shape(value)))

    return tree.map_structure(repeat, values)


def read(buffers: Any, time: Any) -> Any:
    """Return the values of the step `time` from buffers of `allocate`."""
    return tree.map_structure(lambda buffer: gather(buffer, time, axis=0), buffers)


def write(buffers: Any, values: Any, time: Any) -> Any:
    """Return buffers of `allocate` with the values of the step `time` written to them."""

    # `ops.scatter_update` of TensorFlow fails on an empty batch.
    def write_one(buffer: Any, value: Any) -> Any:
        here = ops.reshape(
            ops.arange(buffer.shape[0], dtype="int32") == time, (-1, *[1] * len(value.shape))
        )
        return ops.where(here, ops.expand_dims(value, 0), buffer)

    return tree.map_structure(write_one, buffers, values)


def clear(values: Any, where: Any) -> Any:
    """Set each tensor `[batch, hypotheses, ...]` of a structure to 0 where a mask is True."""

    def clear_one(value: Any) -> Any:
        mask = ops.reshape(where, (*ops.shape(where), *[1] * (len(value.shape) - 2)))
        return ops.where(mask, ops.zeros_like(value), value)

    return tree.map_structure(clear_one, values)


def reorder(values: Any, parents: Any) -> Any:
    """Replace the values of hypothesis k by the values of hypothesis `parents[:, k]`.

    Args:
        values: A structure of tensors `[batch, hypotheses, ...]`.
        parents: Index of the parent of each new hypothesis, int32 `[batch, new_hypotheses]`.

    Returns:
        The structure with tensors `[batch, new_hypotheses, ...]`.
    """
    return tree.map_structure(lambda value: take_rows(value, parents), values)


def batch_major(buffers: Any) -> Any:
    """Turn `[length, batch, hypotheses, ...]` into `[batch, hypotheses, length, ...]`."""

    def move(value: Any) -> Any:
        return ops.transpose(value, (1, 2, 0, *range(3, len(value.shape))))

    return tree.map_structure(move, buffers)
