"""Probabilities of copying words of a source, over its extended vocabulary.

A source position has an id of the vocabulary, or one of V, V+1, … for a word outside the
vocabulary. The probability of copying a word is the sum of the attention weights of its positions.

Source: See, Liu and Manning (2017), "Get to the point", equation 9.
"""

import math
from typing import Any, NamedTuple, Self

from keras import ops

from kerasnmt.speed.gather import take_rows

IMPOSSIBLE = -1e9


class SourceWords(NamedTuple):
    """Words of a source that can be copied, computed once per source.

    Attributes:
        ids: Extended ids, int32 `[batch, source_length]`.
        equal: 1 if two positions have the same word, else 0, float32
            `[batch, source_length, source_length]`.
        columns: Column in which each position writes its probability, int32
            `[batch, source_length]`. It is the id of the word at the word's first position, and one
            of -1, -2, … at later positions of the word. So all columns of a row differ.
    """

    ids: Any
    equal: Any
    columns: Any

    @classmethod
    def of(cls, source_ids: Any) -> Self:
        """Create the words from extended ids, int32 `[batch, source_length]`."""
        equal = ops.equal(source_ids[:, :, None], source_ids[:, None, :])
        positions = ops.arange(ops.shape(source_ids)[1], dtype="int32")
        earlier = positions[None, :] < positions[:, None]
        again = ops.any(ops.logical_and(equal, earlier), axis=-1)
        numbers = ops.cumsum(ops.cast(again, "int32"), axis=1)
        columns = ops.where(again, -numbers, source_ids)
        return cls(source_ids, ops.cast(equal, "float32"), columns)

    def copied(self, weights: Any) -> Any:
        """Return the probability of copying the word of each position, in the dtype of weights."""
        # A Keras layer casts floats in its arguments, so `equal` can have another dtype.
        return ops.matmul(weights, ops.cast(self.equal, weights.dtype))


def copied_log_probability(weights: Any, source_ids: Any, ids: Any) -> Any:
    """Return the log-probability of copying given ids.

    Args:
        weights: Attention weights, float32 `[batch, target_length, source_length]`.
        source_ids: Extended ids, int32 `[batch, source_length]`.
        ids: Extended ids, int32 `[batch, target_length]`.

    Returns:
        Float32 `[batch, target_length]`. If the id is in the source, the value is at least log
        1e-30; smaller probabilities have no gradient. If it is not, the value is -1e9.
    """
    same = ops.equal(ids[:, :, None], source_ids[:, None, :])
    copied = log_of(ops.sum(ops.where(same, weights, 0.0), axis=-1))
    return ops.where(ops.any(same, axis=-1), copied, IMPOSSIBLE)


def at_least_tiny(log_probability: Any) -> Any:
    """Replace -1e9, the log-probability of impossible ids, by log 1e-30, for a loss."""
    possible = log_probability > IMPOSSIBLE / 2
    return ops.where(possible, log_probability, math.log(1e-30))


def with_copies(
    generated: Any,
    log_copy: Any,
    weights: Any,
    words: SourceWords,
) -> Any:
    """Add the probabilities of copying to the probabilities of generating.

    Only the columns of words in the source are computed.

    Args:
        generated: Log-probability of generating each id, float32 `[batch, hypotheses, vocabulary]`.
        log_copy: Log-probability of copying, float32 `[batch, hypotheses, 1]`.
        weights: Attention weights, float32 `[batch, hypotheses, source_length]`.
        words: Words of the source.

    Returns:
        Log-probabilities of generating or copying each id, float32
        `[batch, hypotheses, vocabulary + source_length]`: a source has at most source_length words
        outside the vocabulary. Ids outside the vocabulary that are not in the source have -1e9.
    """
    extended = ops.concatenate([generated, ops.full_like(weights, IMPOSSIBLE)], axis=-1)
    ids = ops.broadcast_to(words.ids[:, None, :], ops.shape(weights))
    copied = words.copied(weights)
    mixed = take_rows(extended, ids, axis=2)
    mixed = ops.where(copied > 0, ops.logaddexp(mixed, log_copy + log_of(copied)), mixed)
    # No column is written twice, because LiteRT would add the values. A later position of a word
    # writes to one of the last columns, which has no word and stays impossible.
    columns = ops.broadcast_to(words.columns[:, None, :], ops.shape(weights))
    mixed = ops.where(columns < 0, IMPOSSIBLE, mixed)
    columns = ops.where(columns < 0, columns + ops.shape(extended)[-1], columns)
    flat = ops.reshape(extended, (-1, ops.shape(extended)[-1]))
    columns = ops.reshape(columns, (-1,))
    rows = ops.repeat(ops.arange(ops.shape(flat)[0], dtype=columns.dtype), ops.shape(ids)[-1])
    updated = ops.scatter_update(flat, ops.stack([rows, columns], -1), ops.reshape(mixed, (-1,)))
    return ops.reshape(updated, ops.shape(extended))


def log_of(probability: Any) -> Any:
    """Return log max(probability, 1e-30), whose gradient is 0 below 1e-30."""
    return ops.log(ops.maximum(probability, 1e-30))
