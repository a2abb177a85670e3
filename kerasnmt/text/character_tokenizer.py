"""A tokenizer of characters."""

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


@keras.saving.register_keras_serializable("kerasnmt")
class CharacterTokenizer(Tokenizer):
    """A tokenizer of Unicode characters (code points), spaces included.

    Models can copy any unknown character from the source; see `tokenize_source`.

    Args:
        characters: The characters with ids from 4, in the order of their ids; a list or a string.
        counts: The number of occurrences of each id, from 0, in the training text; `None` if
            unknown.

    Raises:
        ValueError: If `characters` has duplicates or entries that are not single characters, or
            the number of counts differs from the number of ids.
    """

    kind = "characters"

    def __init__(self, characters: Sequence[str], counts: Sequence[int] | None = None) -> None:
        characters = list(characters)
        check_entries("characters", characters)
        for character in characters:
            if len(character) != 1:
                raise ValueError(
                    f"Expected single characters. Received: characters with {character!r}."
                )
        super().__init__(
            ["▁" if character == " " else character for character in characters], counts
        )
        self._characters = characters
        with tf.init_scope():
            # Of the first four ids only the unknown id is written, as "⁇".
            self._code_points = tf.constant([ord(c) for c in ["⁇", "⁇", "⁇", "⁇", *characters]])
            self._ids = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    self._code_points[4:], tf.range(4, 4 + len(characters))
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
        """Choose the most frequent characters; in a tie, those with the lowest code points.

        Args:
            dataset: See `Tokenizer.train`.
            vocabulary_size: Maximum number of ids, with the four special ids; `None` for all
                characters of the corpus.
            sample: Maximum number of sentences, drawn at random. A character that occurs in none
                of them stays unknown.

        Returns:
            The tokenizer.

        Raises:
            ValueError: If the corpus is empty or does not hold strings, or `vocabulary_size` is
                below 5.
        """
        counts = Counter()
        texts = sample_of_sentences(dataset, sample)
        for text in texts:
            counts.update(text)
        characters = most_frequent(counts, vocabulary_size)
        return cls(characters, counts_of_ids(counts, characters, len(texts)))

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._ids.lookup(tf.strings.unicode_decode(text, "UTF-8"))

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        code_points = tf.strings.unicode_decode(text, "UTF-8")
        return self._ids.lookup(code_points), code_points.with_flat_values(
            _one_by_one(code_points.flat_values)
        )

    def get_config(self) -> dict[str, Any]:
        """Return the characters and their counts."""
        return {"characters": self._characters, "counts": self.counts}

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        code_points = tf.gather(self._code_points, ids)
        if copied is None:
            return tf.strings.unicode_encode(code_points, "UTF-8")
        own = _one_by_one(code_points.flat_values)
        characters = tf.where(copied.flat_values == "", own, copied.flat_values)
        return tf.strings.reduce_join(ids.with_flat_values(characters), axis=-1)


def _one_by_one(code_points: tf.Tensor) -> tf.Tensor:
    """Return each code point `[count]` as a string `[count]`."""
    return tf.strings.unicode_encode(code_points[:, tf.newaxis], "UTF-8")
