"""Whole words in lower case, without the punctuation around them."""

from typing import Any

import keras
import tensorflow as tf

from kerasnmt.text.sentences import sentences
from kerasnmt.text.word_tokenizer import WordTokenizer

_AROUND = r"^[\pP\pS]+|[\pP\pS]+$"


@keras.saving.register_keras_serializable("kerasnmt")
class PlainWordTokenizer(WordTokenizer):
    """Words between spaces, in lower case and without punctuation before and after them.

    "Where is Mary?" is read as `where is mary`. Punctuation inside a word stays: "football,apple"
    is one word, and so is "don't". Punctuation alone is no word. The text need not be tokenized.
    Bytes that are not UTF-8, and control characters, count as spaces.

    Args:
        words: Words from id 4 on, in the order of their ids, in lower case.
        counts: Number of occurrences of each id in the training text, with the first four; None if
            not known.

    Raises:
        ValueError: `words` has a word twice, an empty or reserved one, or one with a space, or
            there is not a count for each id.
    """

    @classmethod
    def _as_read(cls, texts: list[str]) -> list[str]:
        words = tf.strings.reduce_join(_plain_words(tf.constant(texts)), axis=-1, separator=" ")
        return [*sentences([text.decode() for text in words.numpy()])]

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        words = _plain_words(text)
        return self._ids.lookup(words), words


def _plain_words(text: Any) -> tf.RaggedTensor:
    """Split text `[batch]` into words `[batch, (length)]`."""
    # `lower` would end at a null byte.
    text = tf.strings.unicode_transcode(
        text, "UTF-8", "UTF-8", replacement_char=ord(" "), replace_control_characters=True
    )
    words = tf.strings.split(tf.strings.lower(text, encoding="utf-8"))
    words = words.with_flat_values(tf.strings.regex_replace(words.flat_values, _AROUND, ""))
    return tf.ragged.boolean_mask(words, words != "")
