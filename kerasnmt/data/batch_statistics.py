"""What batches are made of."""

from collections import Counter
from dataclasses import dataclass

import tensorflow as tf


@dataclass(frozen=True)
class BatchStatistics:
    """What one epoch of batches holds.

    Attributes:
        batches: The number of batches.
        sentences: The number of pairs. What `batches` left out is the cardinality of its pairs less
            this number.
        source_tokens: The tokens of the sources, end tokens included, padding not.
        target_tokens: The same of the targets.
        source_padding: The share of padding among the positions of the sources, 0 to 1.
        target_padding: The same of the targets; a model's time mostly follows this one.
        shapes: How many batches have each shape `(batch, source_length, target_length)`.
    """

    batches: int
    sentences: int
    source_tokens: int
    target_tokens: int
    source_padding: float
    target_padding: float
    shapes: dict[tuple[int, int, int], int]

    @property
    def padding_share(self) -> float:
        """The share of padding among the positions of both sides, 0 to 1."""
        tokens = self.source_tokens + self.target_tokens
        positions = self.source_tokens / (1 - self.source_padding)
        positions += self.target_tokens / (1 - self.target_padding)
        return 1 - tokens / positions


def describe_batches(dataset: tf.data.Dataset) -> BatchStatistics:
    """Goes through one epoch and counts.

    Args:
        dataset: What `batches` gives.

    Returns:
        The counts.

    Raises:
        ValueError: If there is no batch.
    """
    shapes, source_tokens, target_tokens = Counter(), 0, 0
    for inputs, targets, _ in dataset.as_numpy_iterator():
        source = inputs["source_ids"]
        shapes[(*source.shape, targets.shape[1])] += 1
        source_tokens += int((source != 0).sum())
        target_tokens += int((targets != 0).sum())
    if not shapes:
        raise ValueError(
            "Expected at least one batch. Received: an empty dataset. Each pair was left out: are "
            "all longer than max_length, or empty on a side?"
        )
    sizes = list(shapes.items())
    return BatchStatistics(
        batches=shapes.total(),
        sentences=sum(batch * count for (batch, _, _), count in sizes),
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        source_padding=1 - source_tokens / sum(b * s * count for (b, s, _), count in sizes),
        target_padding=1 - target_tokens / sum(b * t * count for (b, _, t), count in sizes),
        shapes=dict(sorted(sizes)),
    )
