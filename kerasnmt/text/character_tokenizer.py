"""Tokenizer of characters."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text.tokenizer import as_tensor
from kerasnmt.text.vocabulary import VocabularyTokenizer, checked_entries
from kerasnmt.text.without_tensorflow import capitals

# White space at the start or the end, such as no-break and ideographic spaces.
_OUTER_SPACES = r"^[\s\v\pZ]+|[\s\v\pZ]+$"


@keras.saving.register_keras_serializable("kerasnmt")
class CharacterTokenizer(VocabularyTokenizer):
    """Tokenizer of Unicode characters (code points), including spaces.

    Models can copy any unknown character from the source; see `tokenize_source`. Sources have no
    white space at their start and end; see `normalize_source`.

    Args:
        characters: List or string of the characters with ids from 4, in the order of their ids.
        counts: Number of occurrences of each id, from 0, in the training text, or None if unknown.
        fold_case: Whether an uppercase letter that is not in the vocabulary gets the id of its
            lowercase letter. Letters of the vocabulary keep their ids. If `ı` is in the vocabulary,
            `I` becomes `ı` and `İ` becomes `i`, as in Turkish.

    Raises:
        ValueError: If `characters` has duplicates or entries that are not single characters, or the
            number of counts differs from the number of ids.
    """

    kind = "characters"

    def __init__(
        self,
        characters: Sequence[str],
        counts: Sequence[int] | None = None,
        *,
        fold_case: bool = False,
    ) -> None:
        if isinstance(characters, str):
            characters = [*characters]
        characters = checked_entries("characters", characters)
        for character in characters:
            if len(character) != 1:
                raise ValueError(
                    f"Expected single characters. Received: characters with {character!r}."
                )
        super().__init__(
            ["▁" if character == " " else character for character in characters], counts
        )
        self._characters = characters
        self._fold_case = fold_case
        ids = {ord(character): id_ for id_, character in enumerate(characters, start=4)}
        if fold_case:
            ids = {ord(upper): ids[ord(lower)] for upper, lower in capitals(characters)} | ids
        with tf.init_scope():
            # Of the first four ids, only the unknown id is ever written, as "⁇".
            self._code_points = tf.constant([ord(c) for c in ["⁇", "⁇", "⁇", "⁇", *characters]])
            self._ids = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer([*ids], [*ids.values()], tf.int32, tf.int32),
                default_value=UNKNOWN_ID,
            )

    @classmethod
    def _units(cls, texts: Sequence[str]) -> Sequence[str]:
        return texts

    def normalize_source(self, text: tf.Tensor | Sequence[str]) -> tf.Tensor:
        """Return sources, or their contexts, without white space at their start and end.

        A text of white space alone becomes empty. Targets stay as they are.

        Args:
            text: Texts, string `[batch]` or a list of `str`.

        Returns:
            The texts, string `[batch]`.
        """
        return tf.strings.regex_replace(as_tensor(text), _OUTER_SPACES, "")

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._ids.lookup(tf.strings.unicode_decode(text, "UTF-8"))

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        code_points = tf.strings.unicode_decode(text, "UTF-8")
        return self._ids.lookup(code_points), code_points.with_flat_values(
            _one_by_one(code_points.flat_values)
        )

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "characters": self._characters,
            "counts": self.counts,
            "fold_case": self._fold_case,
        }

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
