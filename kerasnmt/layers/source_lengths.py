"""The true lengths of sources."""

from typing import Any

from keras import ops


def source_lengths(keys: Any, memory_mask: Any, rank: int) -> Any:
    """Count the real positions of each source.

    Args:
        keys: `[batch, source_length, ...]`.
        memory_mask: boolean `[batch, source_length]`, True = real token, or None: all are.
        rank: rank of the query that asks.

    Returns:
        float32 `[batch]` for a query of rank 2, `[batch, 1]` for one of rank 3.
    """
    if memory_mask is None:
        memory_mask = ops.ones(ops.shape(keys)[:2], "bool")
    return ops.sum(ops.cast(memory_mask, "float32"), axis=1, keepdims=rank == 3)
