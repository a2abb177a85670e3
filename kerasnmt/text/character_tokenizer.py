"""Characters."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.text.counted_tokenizer import CountedTokenizer, check_units, ids_of_units


@keras.saving.register_keras_serializable("kerasnmt")
class CharacterTokenizer(CountedTokenizer):
    """Unicode characters (code points), the space among them.

    Any unknown character can be copied from a source, see `tokenize_source`.

    Args:
        characters: Characters from id 4 on, in the order of their ids; a list or a string.
        counts: Number of occurrences of each id in the training text, with the first four; None if
            not known.

    Raises:
        ValueError: `characters` has one twice, or anything but single characters, or there is not a
            count for each id.
    """

    kind = "characters"

    def __init__(self, characters: Sequence[str], counts: Sequence[int] | None = None) -> None:
        characters = list(characters)
        check_units("characters", characters)
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
            # Of the first four ids, only the unknown one is written, as "⁇".
            self._code_points = tf.constant([ord(c) for c in ["⁇", "⁇", "⁇", "⁇", *characters]])
            self._ids = ids_of_units(self._code_points[4:])

    @classmethod
    def _count(cls, texts: list[str]) -> Counter:
        counts = Counter()
        for text in texts:
            counts.update(text)
        return counts

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
    """Return code points `[number]` as strings `[number]`."""
    return tf.strings.unicode_encode(code_points[:, tf.newaxis], "UTF-8")
