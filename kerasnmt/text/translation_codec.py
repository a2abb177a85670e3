"""The one way from texts to ids and back, for models that translate."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text.targets import decoder_inputs, padded, with_end
from kerasnmt.text.tokenizer import Tokenizer

# The most tokens of a context, its end token included. A longer context is cut.
MAX_CONTEXT_LENGTH = 1000


class EncodedSource(NamedTuple):
    """The texts that a model reads, as ids.

    Attributes:
        ids: The inputs of a model by name, such as `source_ids`, each int32 `[batch, (length)]`
            without its end token.
        unknown_words: The words of the ids beyond the vocabulary, string `[batch, (unknown)]`;
            None if there are no such ids.
    """

    ids: dict[str, tf.RaggedTensor]
    unknown_words: tf.RaggedTensor | None

    @property
    def empty(self) -> tf.Tensor:
        """Which texts have no tokens, boolean `[batch]`."""
        return self.ids["source_ids"].row_lengths() == 0

    def inputs(self) -> dict[str, tf.Tensor]:
        """Return the inputs of a model: ids with their end token, int32 `[batch, length]`."""
        return {name: padded(with_end(ids)) for name, ids in self.ids.items()}


class TranslationCodec:
    """Turn texts into the inputs of a model that translates, and its results into text.

    Training, search, scoring and exports all use it, eagerly or in a graph.

    Args:
        source_tokenizer: Tokenizer of the sources and their contexts.
        target_tokenizer: Tokenizer of the targets.
        copies: Whether words outside the vocabulary have extended ids, as a model that copies takes
            them; see `Tokenizer.tokenize_source`.
        replace_unknown: Whether unknown words of a target become the source words that they attend
            to, see `replace`.
        dictionary: How source words are written when they replace unknown words. A word that it
            lacks is written as it is.
    """

    def __init__(
        self,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        copies: bool = False,
        *,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
    ) -> None:
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.copies = copies
        self.replaces = replace_unknown
        self.dictionary = _table(dictionary) if dictionary else None

    def encode_source(
        self,
        source: tf.Tensor,
        context: tf.Tensor | None = None,
        *,
        max_length: int | None = None,
        alpha: float | None = None,
    ) -> EncodedSource:
        """Turn sources into ids.

        Args:
            source: String `[batch]`.
            context: The context of each source, string `[batch]`; None if the model reads none.
            max_length: Maximum number of tokens of a source, the end token included. With it,
                contexts are cut to 1,000 tokens. None for no limits.
            alpha: For the random pieces of `SentencePieceTokenizer.sample`; None for the best
                pieces.

        Returns:
            The ids by the names of the model's inputs: `source_ids` and `context_ids`, and if the
            model copies `extended_source_ids` and `extended_context_ids`.
        """
        texts = {"source": source} if context is None else {"source": source, "context": context}
        limits: tuple[int | None, ...] = (None, None)
        if max_length is not None:
            limits = (max_length - 1, MAX_CONTEXT_LENGTH - 1)
        limits = limits[: len(texts)]
        if self.copies:
            read = self.source_tokenizer.tokenize_together(*texts.values(), max_lengths=limits)
            ids = {f"{name}_ids": one.ids for name, one in zip(texts, read, strict=True)}
            ids |= {
                f"extended_{name}_ids": one.extended_ids
                for name, one in zip(texts, read, strict=True)
            }
            return EncodedSource(ids, read[0].unknown_words)
        ids = {
            f"{name}_ids": _tokenize(self.source_tokenizer, text, alpha)[:, :limit]
            for (name, text), limit in zip(texts.items(), limits, strict=True)
        }
        if not self.replaces:
            return EncodedSource(ids, None)
        # One word for each position, so that a position is the index of its word.
        words = self.source_tokenizer.words(source)[:, : limits[0]]
        return EncodedSource(ids, self._written(words))

    def source_lengths(self, text: tf.Tensor) -> tf.Tensor:
        """Count the tokens of each whole source, the end token included, int32 `[batch]`."""
        return tf.cast(self.source_tokenizer.tokenize(text).row_lengths(), tf.int32) + 1

    def encode_target(
        self, text: tf.Tensor, source: EncodedSource, *, alpha: float | None = None
    ) -> tf.RaggedTensor:
        """Turn targets into ids, with the extended ids of their sources if the model copies.

        Args:
            text: String `[batch]`.
            source: From `encode_source`.
            alpha: See `encode_source`.

        Returns:
            Int32 `[batch, (length)]` without the end token.
        """
        if self.copies:
            return self.target_tokenizer.tokenize_target(text, source.unknown_words)
        return _tokenize(self.target_tokenizer, text, alpha)

    def teacher_forced(
        self, source: EncodedSource, target: tf.RaggedTensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        """Return a model's inputs for given targets, and the targets.

        Args:
            source: From `encode_source`.
            target: From `encode_target`.

        Returns:
            The inputs with `target_ids`, and the targets with their end token, int32
            `[batch, target_length]` each.
        """
        targets = padded(with_end(target))
        size = self.target_tokenizer.vocabulary_size
        return {**source.inputs(), "target_ids": decoder_inputs(targets, size)}, targets

    def replace(self, ids: tf.Tensor, weights: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Let unknown ids point at the source words with the largest attention weights.

        Args:
            ids: Int32 `[batch, n_best, target_length]`.
            weights: Float32 `[batch, n_best, target_length, source_length]`.
            source: From `encode_source`.

        Returns:
            The ids, in which each unknown id is the id of a source word beyond the vocabulary.
        """
        source_words: Any = source.unknown_words  # not None where unknown words are replaced
        words = tf.sequence_mask(source_words.row_lengths(), tf.shape(weights)[-1])
        weights = tf.where(words[:, None, None], weights, -1.0)
        position = tf.argmax(weights, axis=-1, output_type=tf.int32)
        beyond = self.target_tokenizer.vocabulary_size
        return tf.where(ids == UNKNOWN_ID, beyond + position, ids)

    def decode(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Turn the ids of targets, int32 `[batch, length]`, into text `[batch]`."""
        return self.target_tokenizer.detokenize(ids, source.unknown_words)

    def decode_all(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Turn the ids of several targets a source into text.

        Args:
            ids: Int32 `[batch, n_best, length]`.
            source: From `encode_source`.

        Returns:
            String `[batch, n_best]`.
        """
        batch, n_best, length = tf.unstack(tf.shape(ids))
        unknown_words = source.unknown_words
        if unknown_words is not None:
            unknown_words = tf.gather(unknown_words, tf.repeat(tf.range(batch), n_best))
        flat = tf.reshape(ids, [-1, length])
        return tf.reshape(self.target_tokenizer.detokenize(flat, unknown_words), [batch, n_best])

    def source_tokens(self, source: EncodedSource, name: str = "source") -> tf.Tensor:
        """Return the tokens of a text that the model reads, string `[batch, length]`."""
        ids = source.ids.get(f"extended_{name}_ids", source.ids[f"{name}_ids"])
        return self.source_tokenizer.tokens(padded(with_end(ids)), source.unknown_words)

    def target_tokens(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Return the tokens of targets, string `[batch, length]`, for ids of the same shape."""
        return self.target_tokenizer.tokens(ids, source.unknown_words)

    def _written(self, words: tf.RaggedTensor) -> tf.RaggedTensor:
        """Return the words as they are written in a target."""
        if self.dictionary is None:
            return words
        found = self.dictionary.lookup(words.flat_values)
        return words.with_flat_values(tf.where(found == "", words.flat_values, found))


def _tokenize(tokenizer: Tokenizer, text: tf.Tensor, alpha: float | None) -> tf.RaggedTensor:
    return tokenizer.tokenize(text) if alpha is None else tokenizer.sample(text, alpha)


def _table(dictionary: Mapping[str, str]) -> tf.lookup.StaticHashTable:
    entries = tf.constant([*dictionary]), tf.constant([*dictionary.values()])
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(*entries), "")
