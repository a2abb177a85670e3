"""The attention of one sentence."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class SentenceAttention(NamedTuple):
    """Where a translation looked.

    Attributes:
        source_tokens: the tokens of the source, the end token included.
        target_tokens: the tokens of the translation, likewise.
        weights: float32 `[target tokens, source tokens]`.
        generate_probability: float32 `[target tokens]`, with which probability each was generated
            rather than copied; None where the model is no pointer-generator.
    """

    source_tokens: list[str]
    target_tokens: list[str]
    weights: np.ndarray
    generate_probability: np.ndarray | None = None

    @classmethod
    def of_batch(cls, outputs: Mapping[str, np.ndarray]) -> "list[SentenceAttention]":
        """Make one of each row of a batch.

        Args:
            outputs: those of the signature `attention`: `source_tokens` bytes
                `[batch, source_length]`, UTF-8, padded with empty strings; `target_tokens` bytes
                `[batch, target_length]`, likewise; `weights` float32
                `[batch, target_length, source_length]`; maybe `generate_probability` float32
                `[batch, target_length]`.
        """
        probabilities = outputs.get("generate_probability")
        found = []
        for row, weights in enumerate(outputs["weights"]):
            source = [decode(token) for token in outputs["source_tokens"][row] if token]
            target = [decode(token) for token in outputs["target_tokens"][row] if token]
            probability = None if probabilities is None else probabilities[row, : len(target)]
            found.append(cls(source, target, weights[: len(target), : len(source)], probability))
        return found


def decode(text: bytes) -> str:
    """Turn what a graph wrote into `str`; bytes that are not UTF-8 are replaced."""
    return text.decode("utf-8", errors="replace")
