"""Whole words."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text.counted_tokenizer import CountedTokenizer, check_units, ids_of_units

_RESERVED = ("<pad>", "<unk>", "<s>", "</s>")


@keras.saving.register_keras_serializable("kerasnmt")
class WordTokenizer(CountedTokenizer):
    """Words between spaces.

    The text must be tokenized beforehand (`"Two dogs run ."`), as the corpora of the older papers
    are: words are split at ASCII whitespace and nowhere else. The words "<pad>", "<unk>", "<s>" and
    "</s>" of such corpora are read as the unknown id. Any unknown word can be copied from a source,
    see `tokenize_source`, these four as well.

    Args:
        words: Words from id 4 on, in the order of their ids.
        counts: Number of occurrences of each id in the training text, with the first four; None if
            not known.

    Raises:
        ValueError: `words` has a word twice, an empty or reserved one, or one with a space, or
            there is not a count for each id.
    """

    kind = "words"

    def __init__(self, words: Sequence[str], counts: Sequence[int] | None = None) -> None:
        check_units("words", words)
        for word in words:
            if word in _RESERVED or [word.encode()] != word.encode().split():
                raise ValueError(
                    f"Expected words without whitespace, none empty and none of {_RESERVED}. "
                    f"Received: words with {word!r}."
                )
        super().__init__(words, counts)
        self._words = list(words)
        with tf.init_scope():
            self._ids = ids_of_units(tf.constant(self._words, tf.string))

    @classmethod
    def _count(cls, texts: list[str]) -> Counter:
        counts = Counter()
        for text in texts:
            counts.update(word.decode() for word in text.encode().split())
        for word in _RESERVED:
            del counts[word]
        return counts

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._tokenize_with_words(text)[0]

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        words = tf.strings.split(text)
        return self._ids.lookup(words), words

    def get_config(self) -> dict[str, Any]:
        """Return the words and their counts."""
        return {"words": self._words, "counts": self.counts}

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        flat = ids.flat_values  # a choice among ragged tensors would broadcast: hundreds of ops
        words = tf.where(flat == UNKNOWN_ID, "⁇", tf.gather(self._written, flat))
        if copied is not None:
            words = tf.where(copied.flat_values == "", words, copied.flat_values)
        return tf.strings.reduce_join(ids.with_flat_values(words), axis=-1, separator=" ")
