"""Tokenizer of lowercase words without the punctuation around them."""

import keras
import tensorflow as tf

from kerasnmt.text.letter_case import lower
from kerasnmt.text.targets import kept
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

    @staticmethod
    def _split(text: tf.Tensor) -> tf.RaggedTensor:
        # Without this, `lower` would drop everything after a null byte.
        text = tf.strings.unicode_transcode(
            text, "UTF-8", "UTF-8", replacement_char=ord(" "), replace_control_characters=True
        )
        words = tf.strings.split(lower(text))
        words = words.with_flat_values(tf.strings.regex_replace(words.flat_values, _AROUND, ""))
        return kept(words, words.flat_values != "")
