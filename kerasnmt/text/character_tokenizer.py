"""Tokenizer of characters."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Literal, Self

import keras
import tensorflow as tf

from kerasnmt.extras import need
from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text.parts import OUTER_SPACES
from kerasnmt.text.tags import (
    FIRST_CODE_POINT,
    LAST_CODE_POINT,
    characters_and_tags,
    default_start,
    is_tag,
    tags_of,
)
from kerasnmt.text.tokenizer import as_tensor
from kerasnmt.text.vocabulary import VocabularyTokenizer, checked_entries
from kerasnmt.text.without_tensorflow import capitals

with suppress(ModuleNotFoundError):  # some machines do not have it; see `_form`
    import tensorflow_text

_PRIVATE = rf"[\x{{{FIRST_CODE_POINT:X}}}-\x{{{LAST_CODE_POINT:X}}}]"


@keras.saving.register_keras_serializable("kerasnmt")
class CharacterTokenizer(VocabularyTokenizer):
    """Tokenizer of Unicode characters (code points), including spaces.

    Models can copy any unknown character from the source; see `tokenize_source`. Sources have no
    white space at their start and end; see `normalize_source`.

    The vocabulary can also contain tags, such as `<de>` or `<V>`: angle brackets with no space and
    no other angle bracket between them. In a text, such a tag is one token. Tags at the start of a
    source tell the model about the whole of it, such as the language or the form of a word to
    write: `<V><PST>walk`.

    Args:
        characters: List or string of the characters and tags with ids from 4, in the order of their
            ids.
        counts: Number of occurrences of each id, from 0, in the training text, or None if unknown.
        fold_case: Whether an uppercase letter that is not in the vocabulary gets the id of its
            lowercase letter. Letters of the vocabulary keep their ids. If `ı` is in the vocabulary,
            `I` becomes `ı` and `İ` becomes `i`, as in Turkish.
        normalization: Unicode form in which texts are read: "nfd" decomposes them, so a syllable of
            Korean is its letters (jamo), and "é" is "e" and a combining accent; "nfc" composes
            them. Both write texts in NFC, and need TensorFlow Text. None reads and writes texts as
            they are.
        default_tags: Tags of the vocabulary that stand in front of each source without a tag; see
            `Tokenizer.with_default_tags`.

    Raises:
        ValueError: If `characters` has duplicates, entries that are neither single characters nor
            tags, entries in another form than `normalization`, or private code points of the plane
            U+F0000 beside tags; the number of counts differs from the number of ids;
            `normalization` is unknown; or a default tag is not in the vocabulary.
    """

    kind = "characters"
    splits_words = True

    def __init__(
        self,
        characters: Sequence[str],
        counts: Sequence[int] | None = None,
        *,
        fold_case: bool = False,
        normalization: Literal["nfc", "nfd"] | None = None,
        default_tags: str | Iterable[str] = "",
    ) -> None:
        form = _form(normalization)
        if isinstance(characters, str):
            characters = [*characters]
        characters = checked_entries("characters", characters)
        for character in characters:
            if len(character) != 1 and not is_tag(character):
                raise ValueError(
                    "Expected single characters, or tags such as <de>. Received: characters with "
                    f"{character!r}."
                )
            if form and not unicodedata.is_normalized(form, character):
                raise ValueError(
                    f"Expected characters in {form}, the form in which texts are read. Received: "
                    f"characters with {character!r}."
                )
        super().__init__(
            ["▁" if character == " " else character for character in characters], counts
        )
        self._characters = characters
        self._fold_case = fold_case
        self._form = form
        self._tags = [character for character in characters if len(character) > 1]
        taken = [c for c in characters if "\U000f0000" <= c <= "\U000fffff"]
        if self._tags and taken:
            raise ValueError(
                "Expected no private code points of the plane U+F0000 beside tags, for which they "
                f"stand. Received: characters with {taken[0]!r}."
            )
        self.default_tags = default_start(default_tags, self._tags)
        private = {tag: FIRST_CODE_POINT + number for number, tag in enumerate(self._tags)}
        code_points = [private[c] if c in private else ord(c) for c in characters]
        ids = {code_point: id_ for id_, code_point in enumerate(code_points, start=4)}
        if fold_case:
            ids = {ord(upper): ids[ord(lower)] for upper, lower in capitals(characters)} | ids
        with tf.init_scope():
            # Of the first four ids, only the unknown id is ever written, as "⁇".
            self._texts = tf.constant(["⁇", "⁇", "⁇", "⁇", *characters])
            self._ids = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer([*ids], [*ids.values()], tf.int32, tf.int32),
                default_value=UNKNOWN_ID,
            )

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int | None = None,
        *,
        tags: bool = False,
        normalization: Literal["nfc", "nfd"] | None = None,
        sample: int = 1_000_000,
    ) -> Self:
        """Choose the most frequent characters. Ties are sorted by code points.

        Args:
            dataset: See `Tokenizer.train`.
            vocabulary_size: Maximum number of ids, including the four special ids, or None for all
                characters of the corpus.
            tags: Whether a tag in the text, such as `<de>`, is one token; see the class. A tag that
                is not among the most frequent entries is read as characters.
            normalization: Unicode form in which texts are read; see the class.
            sample: Maximum number of sentences, drawn at random. A character that occurs in none of
                them stays unknown.

        Returns:
            The tokenizer.

        Raises:
            ValueError: See `WordTokenizer.train`, or if `normalization` is unknown.
        """
        form = _form(normalization)

        def units(texts: Sequence[str]) -> Iterable[Iterable[str]]:
            if form:
                texts = [unicodedata.normalize(form, text) for text in texts]
            known = {*tags_of(texts)} if tags else set()
            return (characters_and_tags(text, known) for text in texts) if known else texts

        return cls._from_units(dataset, units, vocabulary_size, sample, normalization=normalization)

    def normalize_source(self, text: tf.Tensor | Sequence[str]) -> tf.Tensor:
        """Return sources, or their contexts, without white space at their start and end.

        A text of white space alone becomes empty. Others without a tag get the default tags.
        Targets stay as they are.

        Args:
            text: Texts, string `[batch]` or a list of `str`.

        Returns:
            The texts, string `[batch]`.
        """
        return self._with_tags(tf.strings.regex_replace(as_tensor(text), OUTER_SPACES, ""))

    def phrase_ids(
        self, text: tf.Tensor | Sequence[str], unknown_words: tf.RaggedTensor | None = None
    ) -> list[tf.RaggedTensor]:
        """Return the ids of phrases, and of phrases after a space; see `Tokenizer.phrase_ids`."""
        text = as_tensor(text)
        spaced = tf.where(text == "", "", tf.strings.join([" ", text]))
        return [self._target_ids(one, unknown_words) for one in (text, spaced)]

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._ids.lookup(self._decoded(text))

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        code_points = self._decoded(text)
        flat, ids = code_points.flat_values, self._ids.lookup(code_points)
        characters = tf.strings.unicode_encode(flat[:, tf.newaxis], "UTF-8")
        if self._tags:
            tags = tf.gather(self._texts, ids.flat_values)
            private = (flat >= FIRST_CODE_POINT) & (flat <= LAST_CODE_POINT)
            characters = tf.where(private, tags, characters)
        return ids, code_points.with_flat_values(characters)

    def _decoded(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Return the code points of texts, int32 `[batch, (length)]`, with one for each tag."""
        if self._tags or self._form:
            text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")
        if self._form:
            text = tensorflow_text.normalize_utf8(text, self._form)
        if self._tags:
            text = tf.strings.regex_replace(text, _PRIVATE, "\ufffd")
        for number, tag in enumerate(self._tags):
            text = tf.strings.regex_replace(text, re.escape(tag), chr(FIRST_CODE_POINT + number))
        return tf.strings.unicode_decode(text, "UTF-8")

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "characters": self._characters,
            "counts": self.counts,
            "fold_case": self._fold_case,
            "normalization": self._form and self._form.lower(),
            "default_tags": self.default_tags,
        }

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        texts = tf.gather(self._texts, ids.flat_values)
        if copied is not None:
            texts = tf.where(copied.flat_values == "", texts, copied.flat_values)
        joined = tf.strings.reduce_join(ids.with_flat_values(texts), axis=-1)
        return tensorflow_text.normalize_utf8(joined, "NFC") if self._form else joined


def _form(normalization: str | None) -> Any:
    """Return the Unicode form of a normalization."""
    if normalization not in ("nfc", "nfd", None):
        raise ValueError(
            f"Expected normalization to be 'nfc', 'nfd' or None. Received: {normalization=}"
        )
    if normalization:
        need("tensorflow_text")
    return normalization and normalization.upper()
