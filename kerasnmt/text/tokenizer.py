"""What every tokenizer offers."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import tensorflow as tf

from kerasnmt.ids import END_ID, UNKNOWN_ID
from kerasnmt.text.extended_ids import extended_ids, find_unknown_words, words_of_extended_ids
from kerasnmt.text.extended_source import ExtendedSource
from kerasnmt.text.word_indices import word_indices


class Tokenizer(tf.Module):
    """Text to ids and back, inside a TensorFlow graph.

    A tokenizer holds everything that it needs, so `keras.saving` writes it whole into a
    `model.keras`, and as a `tf.Module` it travels in a SavedModel. It runs eagerly, under
    `tf.function` and in `tf.data`.

    Every vocabulary begins with the four ids of `kerasnmt.ids`: padding, unknown, start and end.
    No text is ever tokenized to padding, start or end.

    For models that copy, `tokenize_source` and `tokenize_target` extend the vocabulary for each
    example by the unknown words of its source, and `detokenize` writes them.

    A subclass gives `kind`, `_tokenize`, `_detokenize`, `get_config` and `train`, and hands its
    entries and counts to this constructor; `_tokenize_with_words` as well, where unknown words can
    be copied.

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

    def __repr__(self) -> str:
        with tf.init_scope():
            shown = [entry.decode() for entry in self._written[4:8].numpy()]
        more = "…" if self.vocabulary_size > 8 else ""
        entries = ", ".join([*map(repr, shown), *filter(None, [more])])
        return f"<{type(self).__name__} of {self.vocabulary_size:,} ids: {entries}>"

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

    def sample(self, text: tf.Tensor | Sequence[str], alpha: float = 0.1) -> tf.RaggedTensor:
        """Turns text into ids, cut into pieces at random; see `SentencePieceTokenizer.sample`.

        Raises:
            ValueError: if this tokenizer knows one cut only.
        """
        raise ValueError(
            "Expected a SentencePieceTokenizer, which can cut a text in several ways. Received: a "
            f"tokenizer of kind {self.kind!r}, which knows one way only."
        )

    def tokenize_source(
        self, text: tf.Tensor | Sequence[str], *, max_length: int | None = None
    ) -> ExtendedSource:
        """Turns source text into ids, and gives ids to the words outside the vocabulary.

        The words of a row that `tokenize` makes the unknown id get the ids `vocabulary_size`,
        `vocabulary_size + 1`, … in order of first appearance, equal words the same one. They hold
        in this row alone. Bytes that are not UTF-8 are read as U+FFFD.

        ```python
        tokenizer = WordTokenizer(["a", "b"])  # ids 4 and 5
        source = tokenizer.tokenize_source(["x a y x"])
        source.ids  # [[1, 4, 1, 1]]
        source.extended_ids  # [[6, 4, 7, 6]]
        source.unknown_words  # [[b"x", b"y"]]
        tokenizer.tokenize_target(["y b z"], source.unknown_words)  # [[7, 5, 1]]
        ```

        References:
            See, Liu and Manning, 2017, "Get To The Point: Summarization with Pointer-Generator
            Networks", section 2.2, the extended vocabulary.

        Args:
            text: string, `[batch]`; or a list of `str`.
            max_length: the most ids of a text; None for no limit.

        Returns:
            The ids, the extended ids and the unknown words.
        """
        (source,) = self.tokenize_together(text, max_lengths=[max_length])
        return source

    def tokenize_together(
        self, *texts: tf.Tensor | Sequence[str], max_lengths: Sequence[int | None] | None = None
    ) -> tuple[ExtendedSource, ...]:
        """Turns several texts for each row into ids, as a source and its context.

        A word outside the vocabulary has one id in all texts of a row. The texts are cut first, so
        that every extended id occurs in a text.

        ```python
        tokenizer = WordTokenizer(["a", "b"])  # ids 4 and 5
        source, context = tokenizer.tokenize_together(["x a"], ["y x b"])
        source.extended_ids  # [[6, 4]]
        context.extended_ids  # [[7, 6, 5]]
        source.unknown_words  # [[b"x", b"y"]], as those of context
        ```

        Args:
            *texts: string, `[batch]`, each; or lists of `str`.
            max_lengths: the most ids of each text; None for no limit.

        Returns:
            Of each what `tokenize_source` returns, with the unknown words of all of them, in order.
        """
        read = []
        for text, length in zip(texts, max_lengths or [None] * len(texts), strict=True):
            parts = self._tokenize_with_words(tf.convert_to_tensor(text, tf.string))
            read.append([part[:, :length] for part in parts])
        ids, words = (tf.concat(parts, axis=1) for parts in zip(*read, strict=True))
        unknown = find_unknown_words(ids, words)
        return tuple(
            ExtendedSource(ids, extended_ids(ids, words, unknown, self.vocabulary_size), unknown)
            for ids, words in read
        )

    def words(self, text: tf.Tensor | Sequence[str]) -> tf.RaggedTensor:
        """Says how text writes each of its ids.

        Args:
            text: string, `[batch]`; or a list of `str`.

        Returns:
            string, `[batch, (length)]`, as long as what `tokenize` returns; "" for a piece, which
            is no word of its own. Bytes that are not UTF-8 become U+FFFD.
        """
        words = self._tokenize_with_words(tf.convert_to_tensor(text, tf.string))[1]
        return words.with_flat_values(
            tf.strings.unicode_transcode(words.flat_values, "UTF-8", "UTF-8")
        )

    def tokenize_target(
        self, text: tf.Tensor | Sequence[str], unknown_words: tf.RaggedTensor
    ) -> tf.RaggedTensor:
        """Turns target text into ids, with those that the source gave to its unknown words.

        Args:
            text: string, `[batch]`; or a list of `str`.
            unknown_words: string, `[batch, (unknown)]`, none twice in a row: those that the same
                tokenizer's `tokenize_source` found in the sources.

        Returns:
            int32, `[batch, (length)]`. A word that is in neither vocabulary nor source is the
            unknown id.
        """
        ids, words = self._tokenize_with_words(tf.convert_to_tensor(text, tf.string))
        return extended_ids(ids, words, unknown_words, self.vocabulary_size)

    def detokenize(
        self, ids: tf.RaggedTensor | tf.Tensor, unknown_words: tf.RaggedTensor | None = None
    ) -> tf.Tensor:
        """Turns ids into text.

        Padding, start and end are left out; the unknown id, and any id outside the vocabulary, is
        written "⁇". No id raises an error.

        Args:
            ids: integer, `[batch, (length)]` ragged or `[batch, length]` padded.
            unknown_words: string, `[batch, (unknown)]`, of `tokenize_source`: what is written for
                the ids from `vocabulary_size` on, in each row its own.

        Returns:
            string, `[batch]`.
        """
        if not isinstance(ids, tf.RaggedTensor):
            ids = tf.RaggedTensor.from_tensor(ids)
        # On the flat values, because eager operations on ragged tensors are a hundred times slower.
        flat = self._inside(ids.flat_values)
        written = ids.with_flat_values((flat == UNKNOWN_ID) | (flat > END_ID))
        inside = tf.ragged.boolean_mask(ids.with_flat_values(flat), written)
        if unknown_words is None:
            return self._detokenize(inside)
        copied = words_of_extended_ids(
            ids.flat_values, ids.value_rowids(), unknown_words, self.vocabulary_size
        )
        copied = tf.ragged.boolean_mask(ids.with_flat_values(copied), written)
        return self._detokenize(inside, copied)

    def tokens(self, ids: tf.Tensor, unknown_words: tf.RaggedTensor | None = None) -> tf.Tensor:
        """Shows how each id is written.

        Args:
            ids: integer, of any shape; `[batch, …]` with `unknown_words`.
            unknown_words: string, `[batch, (unknown)]`, of `tokenize_source`: what is shown for
                the ids from `vocabulary_size` on, in each row its own.

        Returns:
            string, of the same shape: "" for padding, "<unk>" for the unknown id and any outside
            the vocabulary, "<s>" and "</s>" for start and end; a space is shown as "▁". An unknown
            word that reads "<s>" or "</s>" is shown as "<unk>", since it is neither start nor end.
        """
        ids = tf.convert_to_tensor(ids)
        tokens = tf.gather(self._written, self._inside(ids))
        if unknown_words is None:
            return tokens
        rows = tf.reshape(tf.range(tf.shape(ids)[0]), [-1] + [1] * (ids.shape.rank - 1))
        copied = words_of_extended_ids(ids, rows, unknown_words, self.vocabulary_size)
        as_it_was = (copied == "") | (copied == "<s>") | (copied == "</s>")
        return tf.where(as_it_was, tokens, tf.where(copied == " ", "▁", copied))

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

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Turns text `[batch]` into ids, as `_tokenize`, and how the text writes each of them.

        The words are strings `[batch, (length)]`, "" for what is not to be copied when it is
        unknown: here all.
        """
        ids = self._tokenize(text)
        return ids, ids.with_flat_values(tf.fill(tf.shape(ids.flat_values), ""))

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        """Writes int32 ids `[batch, (length)]` that hold only text and unknowns as `[batch]`.

        `copied`, string of the same shape, is written instead of the ids where it is not "".
        """
        raise NotImplementedError

    def _inside(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids as int32, with the unknown id in the place of each outside the vocabulary."""
        inside = (ids >= 0) & (ids < self.vocabulary_size)
        return tf.cast(tf.where(inside, ids, tf.cast(UNKNOWN_ID, ids.dtype)), tf.int32)
