"""The attention weights of one sentence."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kerasnmt.text.word_indices import word_indices


class SentenceAttention(NamedTuple):
    """The tokens of a sentence and its translation, and the attention weights between them.

    Attributes:
        source_tokens: The tokens of the source, the end token included.
        target_tokens: The tokens of the translation, the end token included.
        weights: The attention weights, float32 `[target tokens, source tokens]`.
        generate_probability: The probability that each target token was generated rather than
            copied, float32 `[target tokens]`; `None` if the model is not a pointer-generator.
    """

    source_tokens: list[str]
    target_tokens: list[str]
    weights: np.ndarray
    generate_probability: np.ndarray | None = None

    @classmethod
    def of_batch(cls, outputs: Mapping[str, np.ndarray]) -> "list[SentenceAttention]":
        """Return one object for each row of a batch.

        Args:
            outputs: The outputs of the signature `attention`: `source_tokens`, UTF-8 `bytes`
                `[batch, source_length]`, padded with empty strings; `target_tokens`, `bytes`
                `[batch, target_length]`; `weights`, float32 `[batch, target_length,
                source_length]`; and, for a pointer-generator, `generate_probability`, float32
                `[batch, target_length]`.

        Returns:
            The attention of each row, without padding.
        """
        probabilities = outputs.get("generate_probability")
        found = []
        for row, weights in enumerate(outputs["weights"]):
            source = [decode(token) for token in outputs["source_tokens"][row] if token]
            target = [decode(token) for token in outputs["target_tokens"][row] if token]
            probability = None if probabilities is None else probabilities[row, : len(target)]
            found.append(cls(source, target, weights[: len(target), : len(source)], probability))
        return found

    def by_words(self, source_kind: str, target_kind: str) -> "SentenceAttention":
        """Merge tokens into words.

        Weights are summed over the tokens of a source word and averaged over the tokens of a target
        word. A single space belongs to the word after it. End tokens stay.

        Args:
            source_kind: The kind of the source's tokens: `"sentencepiece"`, `"words"` or
                `"characters"`.
            target_kind: The kind of the translation's tokens, one of the same three.

        Returns:
            The attention between words.
        """
        source, source_words = _merged(self.source_tokens, source_kind)
        target, target_words = _merged(self.target_tokens, target_kind)
        means = target_words / target_words.sum(axis=1, keepdims=True)
        probability = self.generate_probability
        return SentenceAttention(
            source,
            target,
            (means @ self.weights @ source_words.T).astype("float32"),
            None if probability is None else (means @ probability).astype("float32"),
        )


def _merged(tokens: Sequence[str], kind: str) -> tuple[list[str], np.ndarray]:
    """Return the words, and a matrix `[words, tokens]`: 1 where a token belongs to a word."""
    indices = word_indices(tokens, kind)
    # A single space belongs to the word after it or, at the end, to the word before it.
    for place in reversed(range(len(tokens))):
        if indices[place] == -1 and not tokens[place].strip("▁ "):
            following = indices[place + 1] if place + 1 < len(tokens) else -1
            indices[place] = following if following >= 0 else max(indices[:place], default=-1)
    words: list[str] = []
    of_token, before = [], -1
    for token, index in zip(tokens, indices, strict=True):
        if index == -1 or index != before:
            words.append("")
        words[-1] += token if kind == "words" else token.replace("▁", "")
        of_token.append(len(words) - 1)
        before = index
    return words, np.eye(len(words))[:, of_token]


def decode(text: bytes) -> str:
    """Turn a string that a graph returns into `str`. Bytes that are not UTF-8 become U+FFFD."""
    return text.decode("utf-8", errors="replace")
