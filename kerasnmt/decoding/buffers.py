"""Buffers, which are structures of tensors that a search fills step by step and reorders."""

import math
from typing import Any

from keras import ops, tree

from kerasnmt.speed.gather import gather


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
    indices: dict[Any, Any] = {}  # the same for all tensors with as many hypotheses

    def take(value: Any) -> Any:
        hypotheses = value.shape[1]
        if hypotheses not in indices:
            indices[hypotheses] = _flat_indices(value, parents, 1)
        return gather(_joined_axes(value, 1), indices[hypotheses], axis=0)

    return tree.map_structure(take, values)


def take_rows(table: Any, indices: Any, axis: int = 1) -> Any:
    """Take entries of a table along an axis, those of each row by indices of its own.

    For indices with as many axes as the table, `ops.take_along_axis` gives the same with more ops.

    Args:
        table: `[*rows, n, *entry]`, where `rows` are `axis` axes.
        indices: Int32 `[*rows, *new]`, below n.
        axis: Axis of the entries.

    Returns:
        `[*rows, *new, *entry]`.
    """
    return gather(_joined_axes(table, axis), _flat_indices(table, indices, axis), axis=0)


def _joined_axes(table: Any, axis: int) -> Any:
    """Join the axes up to this one."""
    entry = table.shape[axis + 1 :]
    return ops.reshape(table, (-1, *(ops.shape(table)[axis + 1 :] if None in entry else entry)))


def _flat_indices(table: Any, indices: Any, axis: int) -> Any:
    """Return the indices of `take_rows` for the joined axes of the table."""
    *rows, count = ops.shape(table)[: axis + 1]
    starts = ops.arange(math.prod(rows), dtype="int32") * count
    return ops.reshape(starts, (-1, *rows[1:], *[1] * (len(indices.shape) - axis))) + indices


def batch_major(buffers: Any) -> Any:
    """Turn `[length, batch, hypotheses, ...]` into `[batch, hypotheses, length, ...]`."""

    def move(value: Any) -> Any:
        return ops.transpose(value, (1, 2, 0, *range(3, len(value.shape))))

    return tree.map_structure(move, buffers)
