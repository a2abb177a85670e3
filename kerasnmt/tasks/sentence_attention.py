"""Attention weights of one sentence."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kerasnmt.alignment import word_alignment
from kerasnmt.text.word_indices import word_indices
from kerasnmt.viz import attention_table, attention_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SentenceAttention(NamedTuple):
    """Tokens of a sentence and its translation, and the attention weights between them.

    The object displays itself as a figure or as a table in a notebook, and as shaded cells in a
    terminal. `kerasnmt.viz.attention_page` makes a page of it.

    Attributes:
        source_tokens: Tokens of the source, including the end token.
        target_tokens: Tokens of the translation, including the end token.
        weights: Attention weights, float32 `[target_length, source_length]`.
        generate_probability: Probability that each target token was generated, not copied, float32
            `[target_length]`, or None if the model is not a pointer-generator.
        context_tokens: Tokens of the context, including the end token, or None if the model reads
            no context.
        context_weights: Attention weights of the context, float32
            `[target_length, context_length]`, or None if the model reads no context.
        context_probability: Probability that each target token was copied from the context, float32
            `[target_length]`, or None if the model does not copy from a context.
        kinds: Kinds of the tokens of source and target; see `by_words`. None for a kind that is not
            known, and for the regions of an image.
        pointer_weights: Weights with which the model copies from the source, float32
            `[target_length, source_length]`, or None if these are `weights`.
    """

    source_tokens: list[str]
    target_tokens: list[str]
    weights: np.ndarray
    generate_probability: np.ndarray | None = None
    context_tokens: list[str] | None = None
    context_weights: np.ndarray | None = None
    context_probability: np.ndarray | None = None
    kinds: tuple[str | None, str | None] = (None, None)
    pointer_weights: np.ndarray | None = None

    @classmethod
    def of_batch(
        cls,
        outputs: Mapping[str, np.ndarray],
        kinds: tuple[str | None, str | None] = (None, None),
    ) -> list[SentenceAttention]:
        """Return one object for each row of a batch.

        Args:
            outputs: Outputs of the signature `attention`, where strings are UTF-8 `bytes`; see
                `TranslationTask`.
            kinds: Kinds of the tokens; see the class.

        Returns:
            The attention of each row, without padding.
        """
        sentences = []
        for row, weights in enumerate(outputs["weights"]):
            source, target = (_tokens(outputs[f"{side}_tokens"][row]) for side in _SIDES)
            attended = cls(source, target, weights[: len(target), : len(source)], kinds=kinds)
            known = [name for name in _PROBABILITIES if name in outputs]
            more: dict[str, Any] = {name: outputs[name][row, : len(target)] for name in known}
            if "pointer_weights" in outputs:
                pointed = outputs["pointer_weights"][row]
                more["pointer_weights"] = pointed[: len(target), : len(source)]
            attended = attended._replace(**more)
            if "context_tokens" in outputs:
                context = _tokens(outputs["context_tokens"][row])
                of_context = outputs["context_weights"][row, : len(target), : len(context)]
                attended = attended._replace(context_tokens=context, context_weights=of_context)
            sentences.append(attended)
        return sentences

    def __repr__(self) -> str:
        """Return a table of shaded cells; see `kerasnmt.viz.attention_text`."""
        weights, columns = self._table()
        return attention_text(
            weights, columns, self.target_tokens, generate_probability=self.generate_probability
        )

    def _repr_png_(self) -> bytes | None:
        """Return a figure for notebooks. If the translation is empty, None, to show text."""
        if not self.target_tokens:
            return None
        picture = io.BytesIO()
        self.figure().savefig(picture, format="png")
        return picture.getvalue()

    def _repr_html_(self) -> str | None:
        """Return a table for notebooks that show no figures. If it is empty, None."""
        return attention_table(self.document()) if self.target_tokens else None

    def figure(self, title: str | None = None) -> Figure:
        """Draw the weights; see `kerasnmt.viz.attention_figure`.

        The tokens of a context follow the tokens of the source.

        Args:
            title: Title of the figure.

        Returns:
            A Matplotlib figure. `figure.savefig(path)` writes it.

        Raises:
            ValueError: If the translation has no tokens.
        """
        from kerasnmt.viz import attention_figure

        weights, columns = self._table()
        return attention_figure(
            weights,
            columns,
            self.target_tokens,
            title,
            generate_probability=self.generate_probability,
            source_label="source" if self.context_tokens is None else "source, context",
        )

    def _table(self) -> tuple[np.ndarray, list[str]]:
        """Return the weights of source and context, `[target_length, columns]`, and the columns."""
        if self.context_tokens is None:
            return self.weights, self.source_tokens
        weights = np.concatenate([self.weights, self.context_weights], axis=1)
        return weights, [*self.source_tokens, *self.context_tokens]

    def document(self) -> dict[str, Any]:
        """Return the attention as values for JSON, for the page of `kerasnmt.viz.attention_page`.

        Returns:
            A dict of `sources`, a list of the source and, if there is one, the context, and of the
            `target`. Each has its `name` and `tokens` and, if their kind is known, the `kind` and
            `words`, the index of the word of each token. Each source has its `weights`,
            `[target_length, length]`. The target of a pointer-generator has its probabilities.
        """
        source_kind, target_kind = self.kinds
        sources = [_side("source", self.source_tokens, source_kind, self.weights)]
        if self.context_tokens is not None:
            sources.append(_side("context", self.context_tokens, source_kind, self.context_weights))
        target = _side("target", self.target_tokens, target_kind)
        for name in _PROBABILITIES:
            if (probability := getattr(self, name)) is not None:
                target[name] = rounded(probability)
        return {"sources": sources, "target": target}

    def alignment(self, source_kind: str, target_kind: str) -> list[tuple[int, int]]:
        """Return the links between words, (source word, target word), counted from 0.

        See `by_words` for the arguments, and `kerasnmt.alignment.word_alignment`.
        """
        return word_alignment(
            self.weights,
            word_indices(self.source_tokens, source_kind),
            word_indices(self.target_tokens, target_kind),
        )

    def by_words(
        self, source_kind: str | None = None, target_kind: str | None = None
    ) -> SentenceAttention:
        """Merge tokens into words.

        Weights are summed over the tokens of a source word, and averaged over the tokens of a
        target word. A single space belongs to the next word. End tokens stay.

        Args:
            source_kind: Kind of the tokens of source and context; see
                `kerasnmt.text.word_indices`. If None, the first of `kinds`.
            target_kind: Kind of the tokens of the translation. If None, the second of `kinds`.

        Returns:
            The attention between words.

        Raises:
            ValueError: If a kind is neither given nor known.
        """
        source_kind, target_kind = source_kind or self.kinds[0], target_kind or self.kinds[1]
        if source_kind is None or target_kind is None:
            raise ValueError(
                "Expected the kinds of the tokens, such as by_words('characters', 'characters'), "
                f"because this attention does not know them. Received: kinds={self.kinds}."
            )
        source, source_words = _word_matrix(self.source_tokens, source_kind)
        target, target_words = _word_matrix(self.target_tokens, target_kind)
        means = target_words / target_words.sum(axis=1, keepdims=True)

        def between(weights: np.ndarray, words: np.ndarray) -> np.ndarray:
            return (means @ weights @ words.T).astype("float32")

        attended = SentenceAttention(source, target, between(self.weights, source_words))
        if self.pointer_weights is not None:
            pointed = between(self.pointer_weights, source_words)
            attended = attended._replace(pointer_weights=pointed)
        for name in _PROBABILITIES:
            if (probability := getattr(self, name)) is not None:
                merged: dict[str, Any] = {name: (means @ probability).astype("float32")}
                attended = attended._replace(**merged)
        if self.context_tokens is not None:
            context, context_words = _word_matrix(self.context_tokens, source_kind)
            weights: Any = self.context_weights  # not None if there are tokens of a context
            of_context = between(weights, context_words)
            attended = attended._replace(context_tokens=context, context_weights=of_context)
        return attended


# Marks of spaces, or of missing spaces, that are not a part of a word.
_MARKS = {"words": "", "words_and_punctuation": "￭"}
_SIDES = ("source", "target")
# Attributes with a probability for each target token.
_PROBABILITIES = ("generate_probability", "context_probability")


def _tokens(padded: np.ndarray) -> list[str]:
    """Return the tokens of a row, UTF-8 `bytes` padded with empty strings."""
    return [decode(token) for token in padded if token]


def _side(
    name: str, tokens: list[str], kind: str | None, weights: np.ndarray | None = None
) -> dict[str, Any]:
    """Return a text, and the weights of its tokens, as values for JSON."""
    side: dict[str, Any] = {"name": name, "tokens": tokens}
    if kind is not None:
        side |= {"kind": kind, "words": merged(tokens, kind)[1]}
    return side if weights is None else {**side, "weights": rounded(weights)}


def rounded(numbers: np.ndarray) -> list:
    """Return an array as nested lists, with four digits after the point, for a small file."""
    return np.round(numbers.astype("float64"), 4).tolist()


def merged(tokens: Sequence[str], kind: str) -> tuple[list[str], list[int]]:
    """Return the words, and the index of the word to which each token belongs."""
    indices = word_indices(tokens, kind)
    # A single space belongs to the next word or, at the end, to the previous word.
    for position in reversed(range(len(tokens))):
        if indices[position] == -1 and not tokens[position].strip("▁ "):
            following = indices[position + 1] if position + 1 < len(tokens) else -1
            indices[position] = following if following >= 0 else max(indices[:position], default=-1)
    words: list[str] = []
    of_token, before = [], -1
    for token, index in zip(tokens, indices, strict=True):
        if index == -1 or index != before:
            words.append("")
        mark = _MARKS.get(kind, "▁")
        words[-1] += token.replace(mark, "") if mark else token
        of_token.append(len(words) - 1)
        before = index
    return words, of_token


def _word_matrix(tokens: Sequence[str], kind: str) -> tuple[list[str], np.ndarray]:
    """Return the words, and a matrix `[words, tokens]` with 1 where a token belongs to a word."""
    words, of_token = merged(tokens, kind)
    return words, np.eye(len(words))[:, of_token]


def decode(text: bytes) -> str:
    """Turn a string from a graph into `str`. Bytes that are not UTF-8 become U+FFFD."""
    return text.decode("utf-8", errors="replace")
