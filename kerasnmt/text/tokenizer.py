"""What every tokenizer offers."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import tensorflow as tf

from kerasnmt.ids import END_ID, UNKNOWN_ID
from kerasnmt.text.word_indices import word_indices


class Tokenizer(tf.Module):
    """Text to ids and back, inside a TensorFlow graph.

    A tokenizer holds everything that it needs, so `keras.saving` writes it whole into a
    `model.keras`, and as a `tf.Module` it travels in a SavedModel. It runs eagerly, under
    `tf.function` and in `tf.data`.

    Every vocabulary begins with the four ids of `kerasnmt.ids`: padding, unknown, start and end.
    No text is ever tokenized to padding, start or end.

    A subclass gives `kind`, `_tokenize`, `_detokenize`, `get_config` and `train`, and hands its
    entries and counts to this constructor.

    Args:
        entries: how each id from 4 on is written, in the order of the ids.
        counts: how often each id occurred in the text that the vocabulary was trained on, the four
            first ones included; None if not known.

    Raises:
        ValueError: if there is not a count for each id.
    """

    kind: ClassVar[str]

    def __init__(self, entries: Sequence[str], counts: Sequence[int] | None = None) -> None:
        super().__init__()
        if counts is not None and len(counts) != len(entries) + 4:
            raise ValueError(
                f"Expected a count for each of {len(entries) + 4} ids. "
                f"Received: counts of length {len(counts)}."
            )
        self._counts = counts
        # Made outside any graph, where each function that uses it captures the one constant.
        with tf.init_scope(), tf.device("CPU"):
            self._written = tf.constant(["", "<unk>", "<s>", "</s>", *entries])

    @property
    def vocabulary_size(self) -> int:
        """The number of ids, with the four that every tokenizer has."""
        return self._written.shape[0]

    @property
    def log_frequencies(self) -> np.ndarray | None:
        """How often each id stands in text, float32 `[vocabulary_size]`, or None if not known.

        The natural logarithms of the counts' shares, where no count is taken for half of one.
        """
        if self._counts is None:
            return None
        counts = np.maximum(np.array(self._counts, "float64"), 0.5)
        return np.log(counts / counts.sum()).astype("float32")

    @property
    def counts(self) -> list[int] | None:
        """How often each id occurred in training, or None if not known."""
        return None if self._counts is None else list(self._counts)

    def tokenize(self, text: tf.Tensor | Sequence[str]) -> tf.RaggedTensor:
        """Turns text into ids, without start and end.

        Any bytes will do: what is not UTF-8 or not in the vocabulary becomes the unknown id, and
        text that holds nothing becomes an empty row.

        Args:
            text: string, `[batch]`; or a list of `str`.

        Returns:
            int32, `[batch, (length)]`.
        """
        return self._tokenize(tf.convert_to_tensor(text, tf.string))

    def detokenize(self, ids: tf.RaggedTensor | tf.Tensor) -> tf.Tensor:
        """Turns ids into text.

        Padding, start and end are left out; the unknown id, and any id outside the vocabulary, is
        written "⁇". No id raises an error.

        Args:
            ids: integer, `[batch, (length)]` ragged or `[batch, length]` padded.

        Returns:
            string, `[batch]`.
        """
        if not isinstance(ids, tf.RaggedTensor):
            ids = tf.RaggedTensor.from_tensor(ids)
        # On the flat values, because eager operations on ragged tensors are a hundred times slower.
        flat = self._inside(ids.flat_values)
        written = (flat == UNKNOWN_ID) | (flat > END_ID)
        ids = tf.ragged.boolean_mask(ids.with_flat_values(flat), ids.with_flat_values(written))
        return self._detokenize(ids)

    def tokens(self, ids: tf.Tensor) -> tf.Tensor:
        """Shows how each id is written.

        Args:
            ids: integer, of any shape.

        Returns:
            string, of the same shape: "" for padding, "<unk>" for the unknown id and any outside
            the vocabulary, "<s>" and "</s>" for start and end; a space is shown as "▁".
        """
        return tf.gather(self._written, self._inside(tf.convert_to_tensor(ids)))

    def word_indices(self, tokens: Sequence[str]) -> list[int]:
        """Tells which word each token belongs to; see `kerasnmt.text.word_indices`.

        Args:
            tokens: the tokens of one sentence, as `tokens` writes them.

        Returns:
            One 0-based index for each token; −1 for padding, start, end and bare spaces.
        """
        return word_indices(tokens, self.kind)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make this tokenizer again, fit for JSON."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the tokenizer that `get_config` describes."""
        return cls(**config)

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int,
        *,
        sample: int = 1_000_000,
    ) -> Self:
        """Learns a vocabulary; the same corpus always gives the same one.

        Args:
            dataset: a `tf.data.Dataset` of strings or of `(source, target)` strings, or an iterable
                of `str` or of pairs of `str`. Of pairs, both sides count.
            vocabulary_size: the number of ids, with the four that every tokenizer has.
            sample: from a larger corpus, this many sentences are drawn at random.

        Returns:
            The tokenizer.

        Raises:
            ValueError: if the corpus is empty or not of strings, or does not suit the size.
        """
        raise NotImplementedError

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Turns text `[batch]` into int32 ids `[batch, (length)]`."""
        raise NotImplementedError

    def _detokenize(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Writes int32 ids `[batch, (length)]` that hold only text and unknowns as `[batch]`."""
        raise NotImplementedError

    def _inside(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids as int32, with the unknown id in the place of each outside the vocabulary."""
        inside = (ids >= 0) & (ids < self.vocabulary_size)
        return tf.cast(tf.where(inside, ids, tf.cast(UNKNOWN_ID, ids.dtype)), tf.int32)
