"""Shapes and positions of what an attention reads, and the shape of its scores."""

from typing import Any

import numpy as np
from keras import ops


def check_shapes(query: Any, memory: Any, mask: Any = None, name: str = "values") -> None:
    """Check that a query, a memory and its mask fit. Sizes that a graph does not know fit.

    Args:
        query: Shape of the query, `(batch, …)`.
        memory: Shape of the memory, `(batch, source_length, units)`.
        mask: Mask of the memory, or None.
        name: Name of the argument for the memory, used in error messages.

    Raises:
        ValueError: If the memory or the mask has other axes, batches differ, or lengths differ.
    """
    query, memory = tuple(query), tuple(memory)
    masked = memory[:2] if mask is None else tuple(np.shape(mask))
    pairs = [(query[:1], memory[:1]), (masked, memory[:2])]
    if len(memory) != 3 or not all(_fit(*pair) for pair in pairs):
        of_mask = "" if mask is None else f", a mask of shape {masked}"
        raise ValueError(
            f"Expected {name} [batch, length, units] with the batch of the query, and a mask "
            f"[batch, length] of them or none. Received: a query of shape {query}, {name} of shape "
            f"{memory}{of_mask}. Pass all with the same batch and length."
        )


def check_scores(scores: Any, query: Any, memory: Any, name: str) -> None:
    """Check that there is a score of each query and each position. Unknown sizes fit.

    Args:
        scores: Result of a score, or None.
        query: Shape of the query, `(batch, …)`.
        memory: Shape of the memory, `(batch, source_length, units)`.
        name: Class of the score, used in error messages.

    Raises:
        ValueError: If the scores have another shape.
    """
    expected = (*query[:-1], memory[1])
    shape = None if scores is None else tuple(scores.shape)
    if shape is None or not _fit(shape, expected):
        raise ValueError(
            f"Expected scores of shape {expected} from {name}.call: [batch, source_length], with "
            "an axis target_length before the last if the query has one. Received: "
            f"{'None' if shape is None else f'shape {shape}'}. The docstring of "
            "kerasnmt.layers.Score has an example."
        )


def check_history(query: Any, **history: Any) -> None:
    """Check that a history has the leading axes of the query. Unknown sizes and 1 always fit.

    Args:
        query: Shape of the query, `(batch, …)`.
        **history: Arguments of the attention that describe earlier words, `[..., size]`, or
            `[...]` for the position. None fits.

    Raises:
        ValueError: If the leading axes of a history differ from those of the query.
    """
    query = tuple(query)
    for name, value in history.items():
        shape = () if value is None else tuple(np.shape(value))
        axes = shape if name == "position" else shape[:-1]
        known = tuple(None if size == 1 else size for size in axes)
        if shape and not _fit(known, query[:-1]):
            raise ValueError(
                f"Expected {name} with the leading axes {query[:-1]} of the query. Received: a "
                f"query of shape {query}, {name} of shape {shape}. Call the attention with one "
                "query [batch, units] at a time, and the history that the previous call returned."
            )


def mask_of(query: Any, memory: Any, mask: Any) -> Any:
    """Return a mask that broadcasts to the attention weights.

    Args:
        query: `[batch, query_units]` or `[batch, target_length, query_units]`.
        memory: `[batch, source_length, ...]`.
        mask: Boolean `[batch, source_length]`, True = real token. If None, all are real.

    Returns:
        Boolean `[batch, source_length]` or `[batch, 1, source_length]`.
    """
    if mask is None:
        mask = ops.ones(ops.shape(memory)[:2], "bool")
    return mask if len(query.shape) == 2 else mask[:, None]


def real_positions(mask: Any) -> Any:
    """Return the position of each real token, counted from 0 without padding.

    Args:
        mask: Boolean `[..., source_length]`, True = real token.

    Returns:
        Float32, with the shape of the mask. Padding has the position of the token before, so the
        last value is the last position. Padding before the first token has -1.
    """
    return ops.cumsum(ops.cast(mask, "float32"), axis=-1) - 1.0


def _fit(sizes: tuple, others: tuple) -> bool:
    """Return whether two shapes can be the same."""
    known = zip(sizes, others, strict=False)
    return len(sizes) == len(others) and all(a == b or None in (a, b) for a, b in known)
