"""The attention of one sentence."""

from typing import NamedTuple

import numpy as np


class SentenceAttention(NamedTuple):
    """Where a translation looked.

    Attributes:
        source_tokens: the tokens of the source, the end token included.
        target_tokens: the tokens of the translation, likewise.
        weights: float32 `[target tokens, source tokens]`.
    """

    source_tokens: list[str]
    target_tokens: list[str]
    weights: np.ndarray

    @classmethod
    def of_row(
        cls, source_tokens: np.ndarray, target_tokens: np.ndarray, weights: np.ndarray
    ) -> "SentenceAttention":
        """Make it of a row of a batch.

        Args:
            source_tokens: bytes `[source_length]`, UTF-8, padded with empty strings.
            target_tokens: bytes `[target_length]`, likewise.
            weights: float32 `[target_length, source_length]`.
        """
        source = [decode(token) for token in source_tokens if token]
        target = [decode(token) for token in target_tokens if token]
        return cls(source, target, weights[: len(target), : len(source)])


def decode(text: bytes) -> str:
    """Turn what a graph wrote into `str`; bytes that are not UTF-8 are replaced."""
    return text.decode("utf-8", errors="replace")
