"""Whole words in lower case, without the punctuation around them."""

from collections.abc import Iterable
from typing import Any, Self

import keras
import tensorflow as tf

from kerasnmt.text.sentences import sample_of_sentences
from kerasnmt.text.word_tokenizer import WordTokenizer

_AROUND = r"^[\pP\pS]+|[\pP\pS]+$"


@keras.saving.register_keras_serializable("kerasnmt")
class PlainWordTokenizer(WordTokenizer):
    """Words between spaces, in lower case and without the signs before and after them.

    "Where is Mary?" is read as `where is mary`. Signs inside a word stay: "football,apple" is one
    word, and so is "don't". What holds signs alone is no word. Texts are expected as people write
    them. Bytes that are not UTF-8, and control characters, count as spaces.

    Args:
        words: the words from id 4 on, in the order of their ids, as they are read.
        counts: how often each id occurred in the text that the vocabulary is from, the four first
            ones included; None if not known.

    Raises:
        ValueError: if `words` holds a word twice, an empty or reserved one, or one with a space, or
            there is not a count for each id.
    """

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
            dataset: see `WordTokenizer.train`.
            vocabulary_size: see `WordTokenizer.train`.
            sample: see `WordTokenizer.train`.

        Returns:
            The tokenizer.

        Raises:
            ValueError: see `WordTokenizer.train`.
        """
        words = _plain_words(tf.constant(sample_of_sentences(dataset, sample)))
        texts = tf.strings.reduce_join(words, axis=-1, separator=" ").numpy()
        return super().train([text.decode() for text in texts], vocabulary_size)

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        words = _plain_words(text)
        return self._ids.lookup(words), words


def _plain_words(text: Any) -> tf.RaggedTensor:
    """Splits text `[batch]` into words `[batch, (length)]`."""
    # `lower` would end at a null byte.
    text = tf.strings.unicode_transcode(
        text, "UTF-8", "UTF-8", replacement_char=ord(" "), replace_control_characters=True
    )
    words = tf.strings.split(tf.strings.lower(text, encoding="utf-8"))
    words = words.with_flat_values(tf.strings.regex_replace(words.flat_values, _AROUND, ""))
    return tf.ragged.boolean_mask(words, words != "")
