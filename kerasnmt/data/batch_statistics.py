"""Statistics of batches."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from kerasnmt.data.saving import check_finite
from kerasnmt.ids import PAD_ID, UNKNOWN_ID, extended


@dataclass(frozen=True)
class BatchStatistics:
    """Statistics of one epoch of batches.

    Attributes:
        batches: Number of batches.
        sentences: Number of pairs, without rows of padding. `batches` has dropped the other pairs.
        source_tokens: Number of source tokens, including end tokens, without padding.
        target_tokens: Number of target tokens, including end tokens, without padding.
        source_padding: Fraction of the source positions that are padding, from 0 to 1.
        target_padding: Fraction of the target positions that are padding, from 0 to 1. It affects
            the training time most.
        shapes: Number of batches of each shape `(batch, source_length, target_length)`.
        lengths: For `source` and `target`, the numbers of sentences with 0, 1, 2, … tokens,
            including the end token.
        unknown: For `source` and `target`, the fraction of the tokens, without end tokens, that are
            not in the vocabulary, from 0 to 1. Extended ids are not counted.
    """

    batches: int
    sentences: int
    source_tokens: int
    target_tokens: int
    source_padding: float
    target_padding: float
    shapes: dict[tuple[int, int, int], int]
    lengths: dict[str, list[int]]
    unknown: dict[str, float]

    @property
    def padding_share(self) -> float:
        """Fraction of the positions of both sides that are padding, from 0 to 1."""
        tokens = self.source_tokens + self.target_tokens
        positions = self.source_tokens / (1 - self.source_padding)
        positions += self.target_tokens / (1 - self.target_padding)
        return 1 - tokens / positions


def unknown_tokens(shares: dict[str, float]) -> str | None:
    """Return a warning if most tokens of a side are not in the vocabulary, or None.

    Args:
        shares: See `BatchStatistics.unknown`.
    """
    if all(share <= 0.5 for share in shares.values()):
        return None
    found = " and ".join(f"{share:.0%} of the {side} tokens" for side, share in shares.items())
    return (
        f"{found} are not in the vocabulary. Each side needs the tokenizer that was trained on it: "
        "are the two swapped, or do they belong to other data?"
    )


def describe_batches(dataset: tf.data.Dataset) -> BatchStatistics:
    """Return the statistics of one epoch of batches.

    Args:
        dataset: Dataset from `batches`.

    Returns:
        The statistics.

    Raises:
        ValueError: If the dataset is empty or infinite.
    """
    check_finite(dataset)
    return statistics_of(dataset.as_numpy_iterator())


def statistics_of(
    batches: Iterable[tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]],
) -> BatchStatistics:
    """Return the statistics of batches of arrays; see `describe_batches`."""
    shapes: Counter[tuple[int, int, int]] = Counter()
    lengths: dict[str, Counter[int]] = {"source": Counter(), "target": Counter()}
    unknown = Counter[str]()
    for inputs, targets, _ in batches:
        source = inputs["source_ids"]
        shapes[(*source.shape, targets.shape[1])] += 1
        real = (targets != PAD_ID).any(axis=1)  # without rows of padding
        for side, ids in (("source", source), ("target", targets)):
            lengths[side].update((ids[real] != PAD_ID).sum(axis=1).tolist())
            ids = inputs.get(extended("source_ids"), ids) if side == "source" else ids
            unknown[side] += int((ids == UNKNOWN_ID).sum())
    if not shapes:
        raise ValueError(
            "Expected at least one batch. Received: an empty dataset. All pairs were dropped, "
            "because they are longer than max_length or empty on one side."
        )
    sizes = list(shapes.items())
    source_tokens, target_tokens = (
        sum(length * count for length, count in counts.items()) for counts in lengths.values()
    )
    sentences = lengths["source"].total()
    return BatchStatistics(
        batches=shapes.total(),
        sentences=sentences,
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        source_padding=1 - source_tokens / sum(b * s * count for (b, s, _), count in sizes),
        target_padding=1 - target_tokens / sum(b * t * count for (b, _, t), count in sizes),
        shapes=dict(sorted(sizes)),
        lengths={
            side: [counts[length] for length in range(max(counts, default=-1) + 1)]
            for side, counts in lengths.items()
        },
        unknown={
            side: unknown[side] / max(tokens - sentences, 1)
            for side, tokens in (("source", source_tokens), ("target", target_tokens))
        },
    )
