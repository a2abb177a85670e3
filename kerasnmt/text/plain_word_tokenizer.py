"""Tokenizer of lowercase words without the punctuation around them."""

from collections.abc import Iterable
from typing import Any, Self

import keras
import tensorflow as tf

from kerasnmt.text.sentences import sample_of_sentences
from kerasnmt.text.word_tokenizer import WordTokenizer

_AROUND = r"^[\pP\pS]+|[\pP\pS]+$"


@keras.saving.register_keras_serializable("kerasnmt")
class PlainWordTokenizer(WordTokenizer):
    """Tokenizer of words separated by spaces, in lowercase and without surrounding punctuation.

    "Where is Mary?" becomes `where is mary`. Punctuation inside a word stays: "football,apple" is
    one word, and so is "don't". A token of punctuation alone is not a word. Use raw text, which is
    not tokenized already. Control characters and bytes that are not UTF-8 count as spaces.

    Args:
        words: Words with ids from 4, in the order of their ids, in lowercase and without
            surrounding punctuation.
        counts: Number of occurrences of each id, from 0, in the training text, or None if unknown.

    Raises:
        ValueError: If `words` has duplicates, empty or reserved words, or words with spaces, or the
            number of counts differs from the number of ids.
    """

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int | None = None,
        *,
        sample: int = 1_000_000,
    ) -> Self:
        """Choose the most frequent words; see `WordTokenizer.train`."""
        words = _plain_words(tf.constant(sample_of_sentences(dataset, sample)))
        texts = tf.strings.reduce_join(words, axis=-1, separator=" ").numpy()
        return super().train([text.decode() for text in texts], vocabulary_size, sample=sample)

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        words = _plain_words(text)
        return self._ids.lookup(words), words


def _plain_words(text: Any) -> tf.RaggedTensor:
    """Split text `[batch]` into words `[batch, (length)]`."""
    # Without this, `tf.strings.lower` would drop everything after a null byte.
    text = tf.strings.unicode_transcode(
        text, "UTF-8", "UTF-8", replacement_char=ord(" "), replace_control_characters=True
    )
    words = tf.strings.split(tf.strings.lower(text, encoding="utf-8"))
    words = words.with_flat_values(tf.strings.regex_replace(words.flat_values, _AROUND, ""))
    return tf.ragged.boolean_mask(words, words != "")
