"""Whole words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self

import keras
import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text.sentences import sample_of_sentences
from kerasnmt.text.tokenizer import Tokenizer
from kerasnmt.text.vocabulary import (
    check_entries,
    counts_of_ids,
    most_frequent,
)

_RESERVED = ("<pad>", "<unk>", "<s>", "</s>")


@keras.saving.register_keras_serializable("kerasnmt")
class WordTokenizer(Tokenizer):
    """Words as they stand between spaces.

    The text is expected to be tokenized beforehand (`"Two dogs run ."`), as the corpora of the
    older papers are: words are split at ASCII whitespace and nowhere else. The words "<pad>",
    "<unk>", "<s>" and "</s>" of such corpora are read as the unknown id. Any unknown word can be
    copied from a source, see `tokenize_source`, these four as well.

    Args:
        words: the words from id 4 on, in the order of their ids.
        counts: how often each id occurred in the text that the vocabulary is from, the four first
            ones included; None if not known.

    Raises:
        ValueError: if `words` holds a word twice, an empty or reserved one, or one with a space, or
            there is not a count for each id.
    """

    kind = "words"

    def __init__(self, words: Sequence[str], counts: Sequence[int] | None = None) -> None:
        check_entries("words", words)
        for word in words:
            if word in _RESERVED or [word.encode()] != word.encode().split():
                raise ValueError(
                    f"Expected words without whitespace, none empty and none of {_RESERVED}. "
                    f"Received: words with {word!r}."
                )
        super().__init__(words, counts)
        self._words = list(words)
        with tf.init_scope():
            self._ids = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(self._words, tf.string), tf.range(4, 4 + len(words))
                ),
                default_value=UNKNOWN_ID,
            )

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int | None = None,
        *,
        sample: int = 1_000_000,
    ) -> Self:
        """Takes the most frequent words; among equals, those first by code point.

        Args:
            dataset: a `tf.data.Dataset` of strings or of `(source, target)` strings, or an iterable
                of `str` or of pairs of `str`. Of pairs, both sides count.
            vocabulary_size: the most ids, with the four that every tokenizer has; None for all
                words of the corpus.
            sample: from a larger corpus, this many sentences are drawn at random; words in none
                of them stay unknown.

        Returns:
            The tokenizer.

        Raises:
            ValueError: if the corpus is empty or not of strings, or `vocabulary_size` is below 5.
        """
        counts = Counter()
        texts = sample_of_sentences(dataset, sample)
        for text in texts:
            counts.update(word.decode() for word in text.encode().split())
        for word in _RESERVED:
            del counts[word]
        words = most_frequent(counts, vocabulary_size)
        return cls(words, counts_of_ids(counts, words, len(texts)))

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._tokenize_with_words(text)[0]

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        words = tf.strings.split(text)
        return self._ids.lookup(words), words

    def get_config(self) -> dict[str, Any]:
        """Returns the words and their counts."""
        return {"words": self._words, "counts": self.counts}

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        flat = ids.flat_values  # a choice among ragged tensors would broadcast: hundreds of ops
        words = tf.where(flat == UNKNOWN_ID, "⁇", tf.gather(self._written, flat))
        if copied is not None:
            words = tf.where(copied.flat_values == "", words, copied.flat_values)
        return tf.strings.reduce_join(ids.with_flat_values(words), axis=-1, separator=" ")
