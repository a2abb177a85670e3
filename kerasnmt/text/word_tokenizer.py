"""Tokenizer of whole words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import keras
import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text.vocabulary import VocabularyTokenizer, checked_entries

_RESERVED = ("<pad>", "<unk>", "<s>", "</s>")


@keras.saving.register_keras_serializable("kerasnmt")
class WordTokenizer(VocabularyTokenizer):
    """Tokenizer of words separated by spaces.

    The text should already be tokenized (`"Two dogs run ."`), like the corpora of older papers,
    because words are split only at ASCII whitespace. The words `<pad>`, `<unk>`, `<s>` and `</s>`
    of such corpora become the unknown id. Models can copy any unknown word from the source,
    including these four; see `tokenize_source`.

    Args:
        words: Words with ids from 4, in the order of their ids.
        counts: Number of occurrences of each id, from 0, in the training text, or None if unknown.

    Raises:
        ValueError: If `words` has duplicates, empty or reserved words, or words with spaces, or the
            number of counts differs from the number of ids.
    """

    kind = "words"

    def __init__(self, words: Sequence[str], counts: Sequence[int] | None = None) -> None:
        words = checked_entries("words", words)
        for word in words:
            if word in _RESERVED or [word.encode()] != word.encode().split():
                raise ValueError(
                    "Expected words that are not empty, have no whitespace, and are not one of "
                    f"{_RESERVED}. Received: words with {word!r}."
                )
        super().__init__(words, counts)
        self._words = words
        with tf.init_scope():
            self._ids = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(self._words, tf.string), tf.range(4, 4 + len(words))
                ),
                default_value=UNKNOWN_ID,
            )

    @staticmethod
    def _split(text: tf.Tensor) -> tf.RaggedTensor:
        """Split texts `[batch]` into words `[batch, (length)]`."""
        return tf.strings.split(text)

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int | None = None,
        *,
        sample: int = 1_000_000,
    ) -> Self:
        """Choose the most frequent words. Ties are sorted by code points.

        Args:
            dataset: See `Tokenizer.train`.
            vocabulary_size: Maximum number of ids, including the four special ids, or None for all
                words of the corpus.
            sample: Maximum number of sentences, drawn at random. A word that occurs in none of them
                stays unknown.

        Returns:
            The tokenizer.

        Raises:
            ValueError: If the corpus is empty or has entries that are not strings, or
                `vocabulary_size` is not an integer of at least 5.
        """
        return cls._from_units(dataset, cls._units, vocabulary_size, sample)

    @classmethod
    def _units(cls, texts: Sequence[str]) -> Iterator[list[str]]:
        # Python has other versions of Unicode, so TensorFlow splits the texts.
        rows = tf.strings.reduce_join(cls._split(tf.constant(texts)), axis=-1, separator=" ")
        for row in rows.numpy():
            yield [word for word in row.decode().split(" ") if word and word not in _RESERVED]

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._tokenize_with_words(text)[0]

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        words = self._split(text)
        return self._ids.lookup(words), words

    def get_config(self) -> dict[str, Any]:
        """Return the words and their counts."""
        return {"words": self._words, "counts": self.counts}

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        flat = ids.flat_values  # `tf.where` of ragged tensors broadcasts with hundreds of ops
        words = tf.where(flat == UNKNOWN_ID, "⁇", tf.gather(self._written, flat))
        if copied is not None:
            words = tf.where(copied.flat_values == "", words, copied.flat_values)
        return tf.strings.reduce_join(ids.with_flat_values(words), axis=-1, separator=" ")
