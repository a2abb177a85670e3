"""Probabilities of words that are copied from a source, over its extended vocabulary.

A source position holds an id of the vocabulary, or V, V+1, … for its words outside of it. A word's
copy probability is the sum of the weights on the positions that hold it.

Source: See, Liu and Manning (2017), "Get to the point", equation 9.
"""

import math
from typing import Any

from keras import ops

from kerasnmt.layers.products import products

IMPOSSIBLE = -1e9


def source_words(source_ids: Any) -> dict[str, Any]:
    """Return what copying has to know of a source, as part of a memory and of outputs.

    Args:
        source_ids: extended ids, int32 `[batch, source_length]`.

    Returns:
        `source_ids`; `equal_words`, float32 `[batch, source_length, source_length]`: 1 where two
        positions hold the same word, else 0; and `columns`, int32 `[batch, source_length]`, all
        different in a row: the id of a word where it stands first, and -1, -2, … where it stands
        again.
    """
    equal = ops.equal(source_ids[:, :, None], source_ids[:, None, :])
    positions = ops.arange(ops.shape(source_ids)[1])
    earlier = positions[None, :] < positions[:, None]
    again = ops.any(ops.logical_and(equal, earlier), axis=-1)
    numbers = ops.cumsum(ops.cast(again, "int32"), axis=1)
    return {
        "source_ids": source_ids,
        "equal_words": ops.cast(equal, "float32"),
        "columns": ops.where(again, -numbers, source_ids),
    }


def copied_log_probability(weights: Any, source_ids: Any, ids: Any) -> Any:
    """Return the log-probability of copying given ids.

    Args:
        weights: float32 `[batch, target_length, source_length]`.
        source_ids: extended ids, int32 `[batch, source_length]`.
        ids: extended ids, int32 `[batch, target_length]`.

    Returns:
        float32 `[batch, target_length]`; at least log 1e-30 where an id is in its source, below
        which there is no gradient, and -1e9 where it is not.
    """
    same = ops.equal(ids[:, :, None], source_ids[:, None, :])
    copied = log_of(ops.sum(ops.where(same, weights, 0.0), axis=-1))
    return ops.where(ops.any(same, axis=-1), copied, IMPOSSIBLE)


def at_least_tiny(log_probability: Any) -> Any:
    """Return log-probabilities, log 1e-30 for what is impossible, as part of a loss."""
    possible = log_probability > IMPOSSIBLE / 2
    return ops.where(possible, log_probability, math.log(1e-30))


def with_copies(
    generated: Any,
    log_copy: Any,
    weights: Any,
    source_ids: Any,
    equal_words: Any,
    columns: Any,
) -> Any:
    """Extend log-probabilities of the vocabulary by those of copying.

    Only the columns of words that stand in the source are computed anew.

    Args:
        generated: log-probabilities of generating each id, float32 `[batch, hypotheses,
            vocabulary]`.
        log_copy: log-probability of copying, float32 `[batch, hypotheses, 1]`.
        weights: float32 `[batch, hypotheses, source_length]`.
        source_ids: extended ids, int32 `[batch, source_length]`.
        equal_words: from `source_words`.
        columns: from `source_words`.

    Returns:
        float32 `[batch, hypotheses, vocabulary + source_length]`: a source has no more words
        outside the vocabulary than positions. Ids that it does not hold have -1e9.
    """
    extended = ops.concatenate([generated, ops.full_like(weights, IMPOSSIBLE)], axis=-1)
    ids = ops.broadcast_to(source_ids[:, None, :], ops.shape(weights))
    copied = products(weights, equal_words)
    mixed = ops.take_along_axis(extended, ids, axis=-1)
    mixed = ops.where(copied > 0, ops.logaddexp(mixed, log_copy + log_of(copied)), mixed)
    # No column is written twice, which LiteRT would add up: for each position whose word stands
    # again, one of the columns at the end has no word, and stays impossible.
    columns = ops.broadcast_to(columns[:, None, :], ops.shape(weights))
    mixed = ops.where(columns < 0, IMPOSSIBLE, mixed)
    columns = ops.where(columns < 0, columns + ops.shape(extended)[-1], columns)
    flat = ops.reshape(extended, (-1, ops.shape(extended)[-1]))
    columns = ops.reshape(columns, (-1,))
    rows = ops.repeat(ops.arange(ops.shape(flat)[0], dtype=columns.dtype), ops.shape(ids)[-1])
    updated = ops.scatter_update(flat, ops.stack([rows, columns], -1), ops.reshape(mixed, (-1,)))
    return ops.reshape(updated, ops.shape(extended))


def log_of(probability: Any) -> Any:
    """Return the logarithm of a probability, of 1e-30 at the least: the gradient below is 0."""
    return ops.log(ops.maximum(probability, 1e-30))
