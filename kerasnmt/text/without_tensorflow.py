"""Tokenizers that take and return Python objects, without TensorFlow.

They give the ids and texts of the tokenizers of `kerasnmt.text`, from their configs.
"""

import base64
import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kerasnmt.columns import as_string
from kerasnmt.ids import END_ID, UNKNOWN_ID
from kerasnmt.text.parts import SPACES
from kerasnmt.text.tags import characters_and_tags, is_tag
from kerasnmt.text.whole_words import NO_LETTER, word_places
from kerasnmt.text.word_indices import JOINER

# Control characters, and bytes that are not UTF-8, which are spaces in `PlainWordTokenizer`.
_SPACES = dict.fromkeys([*range(0x20), *range(0xDC80, 0xDD00)], " ")
# A punctuation mark or symbol of `PunctuationTokenizer`, and the parts of a word, in the classes of
# `_character_class`.
_SIGN = "[ST][MT]*(?:J[ST][MT]*)*"
_PARTS = re.compile(rf"((?:{_SIGN})*)(.*?)((?:{_SIGN})*)\Z", re.DOTALL)


class PlainTokenizer:
    """Base class of tokenizers without TensorFlow.

    Args:
        entries: Text of each id from 4, in the order of the ids.
    """

    kind: str
    splits_words: bool = False

    def __init__(self, entries: Sequence[str], default_tags: str = "") -> None:
        self.entries = ["", "<unk>", "<s>", "</s>", *entries]
        self._default_tags = default_tags
        self._starts = tuple(filter(is_tag, entries))

    def encode(self, texts: Sequence[bytes]) -> list[list[int]]:
        """Turn sources with any bytes into ids, without the end token."""
        return [self.split(self.normalize_source(text))[0] for text in texts]

    def normalize_source(self, text: bytes) -> bytes:
        """Return a source in a form that the vocabulary knows."""
        return text

    def _with_tags(self, text: str) -> str:
        """Put the default tags in front of a source without a tag."""
        bare = text.strip(SPACES) if self._default_tags else ""
        return self._default_tags + bare if bare and not bare.startswith(self._starts) else text

    def split(self, text: bytes) -> tuple[list[int], list[str]]:
        """Turn a text into ids, and the word of each id, or "" for a piece of a word."""
        raise NotImplementedError

    def phrases(self, text: bytes) -> list[tuple[list[int], list[str]]]:
        """Turn a phrase into what `split` gives within targets; see `Tokenizer.phrase_ids`."""
        return [self.split(text)]

    @functools.cached_property
    def word_places(self) -> tuple[Any, Any]:
        """Where words can begin in sequences of ids; see `whole_words.word_places`."""
        return word_places(self.entries, self.splits_words)

    def decode(
        self, ids: Sequence[Sequence[int]], unknown_words: Sequence[Sequence[str]] | None = None
    ) -> list[str]:
        """Turn ids into texts; see `Tokenizer.detokenize`.

        Args:
            ids: Ids of each text.
            unknown_words: Words of the extended ids of each text, or None.
        """
        unknown_words = unknown_words or [()] * len(ids)
        return [
            self._written([*self._tokens(row, words)])
            for row, words in zip(ids, unknown_words, strict=True)
        ]

    def tokens(self, ids: Sequence[int], unknown_words: Sequence[str] = ()) -> list[str]:
        """Return each id as a readable token; see `Tokenizer.tokens`."""
        tokens = []
        for number in ids:
            word = self._unknown_word(number, unknown_words)
            if word in ("", "<s>", "</s>"):
                word = self.entries[number if 0 <= number < len(self.entries) else UNKNOWN_ID]
            tokens.append("▁" if word == " " else word)
        return tokens

    def _tokens(self, ids: Sequence[int], words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield each id that is written, with its word if it is an extended id."""
        size = len(self.entries)
        for number in ids:
            if number == UNKNOWN_ID or not 0 <= number <= END_ID:
                inside = number if 0 <= number < size else UNKNOWN_ID
                yield inside, self._unknown_word(number, words)

    def _unknown_word(self, number: int, words: Sequence[str]) -> str:
        rank = number - len(self.entries)
        return words[rank] if 0 <= rank < len(words) else ""

    def _written(self, tokens: Sequence[tuple[int, str]]) -> str:
        """Turn ids, and their words if they are copied, into a text."""
        raise NotImplementedError


def plain_tokenizer(config: Mapping[str, Any]) -> PlainTokenizer:
    """Return a tokenizer from its serialized object.

    SentencePiece needs its own package. It gives the same pieces as TensorFlow Text, unless two
    segmentations of a text have the same probability: then versions of SentencePiece choose
    differently. A tokenizer from outside this library imports TensorFlow.

    Args:
        config: A tokenizer of `kerasnmt.text`, from `keras.saving.serialize_keras_object`.

    Raises:
        ValueError: If the object is not a tokenizer.
    """
    name = config["registered_name"].removeprefix("kerasnmt>")
    if name in _TOKENIZERS:
        return _TOKENIZERS[name](**config["config"])
    import keras

    from kerasnmt.text.register_tokenizers import register_tokenizers

    register_tokenizers()
    return _InTensorFlow(keras.saving.deserialize_keras_object(config))


def plain_form(tokenizer: Any) -> PlainTokenizer:
    """Return the same tokenizer without TensorFlow; see `plain_tokenizer`.

    Args:
        tokenizer: A tokenizer of `kerasnmt.text`. One from outside this library is wrapped.
    """
    ours = type(tokenizer).__module__.startswith("kerasnmt.")
    plain = _TOKENIZERS.get(type(tokenizer).__name__) if ours else None
    return _InTensorFlow(tokenizer) if plain is None else plain(**tokenizer.get_config())


class _Words(PlainTokenizer):
    kind = "words"

    def __init__(self, words: Sequence[str], **_: Any) -> None:
        super().__init__(words)
        self._ids = {word.encode(): number for number, word in enumerate(words, 4)}

    def split(self, text: bytes) -> tuple[list[int], list[str]]:
        words = self._words(text)
        return [self._ids.get(word, UNKNOWN_ID) for word in words], [*map(as_string, words)]

    def _words(self, text: bytes) -> list[bytes]:
        return text.split()

    def _written(self, tokens: Sequence[tuple[int, str]]) -> str:
        return " ".join(
            word or ("⁇" if number == UNKNOWN_ID else self.entries[number])
            for number, word in tokens
        )


class _PlainWords(_Words):
    def _words(self, text: bytes) -> list[bytes]:
        spaced = text.decode("utf-8", "surrogateescape").translate(_SPACES)
        words = spaced.lower().encode().split()
        plain = (_without_signs(word.decode()).encode() for word in words)
        return [word for word in plain if word]


class _WordsAndPunctuation(_Words):
    kind = "words_and_punctuation"

    def _words(self, text: bytes) -> list[bytes]:
        words = as_string(text).replace(JOINER, "■").encode().split()
        return [token for word in words for token in self._parts(word.decode())]

    def _parts(self, text: str) -> list[bytes]:
        """Split off the punctuation marks and symbols at the start and the end of a word."""
        classes = "".join(map(_character_class, text))
        parts: Any = _PARTS.match(classes)  # matches any text
        first, last = parts.end(1), parts.start(3)
        if first == last:
            return [text.encode()]
        before = [f"{text[i:j]}{JOINER}" for i, j in _spans(classes, 0, first)]
        word = re.sub("(?s)(.)(['’]s)$", rf"\1 {JOINER}\2", text[first:last]).split(" ")
        after = [f"{JOINER}{text[i:j]}" for i, j in _spans(classes, last, len(text))]
        return [token.encode() for token in [*before, *word, *after]]

    def _written(self, tokens: Sequence[tuple[int, str]]) -> str:
        return re.sub(f" ?{JOINER} ?", "", super()._written(tokens))


class _Characters(PlainTokenizer):
    kind = "characters"
    splits_words = True

    def __init__(
        self,
        characters: Sequence[str],
        fold_case: bool = False,
        normalization: str | None = None,
        default_tags: str = "",
        **_: Any,
    ) -> None:
        super().__init__(["▁" if one == " " else one for one in characters], default_tags)
        self._characters = ["⁇"] * 4 + [*characters]
        self._tags = {one for one in characters if len(one) > 1}
        self._ids = {one: number for number, one in enumerate(characters, 4)}
        if fold_case:
            folded = {upper: self._ids[lower] for upper, lower in capitals(characters)}
            self._ids = folded | self._ids
        self._form: Any = normalization and normalization.upper()

    def normalize_source(self, text: bytes) -> bytes:
        bare = text.decode("utf-8", "surrogateescape").strip(SPACES)
        return self._with_tags(bare).encode("utf-8", "surrogateescape")

    def split(self, text: bytes) -> tuple[list[int], list[str]]:
        read = as_string(text)
        if self._form:
            read = unicodedata.normalize(self._form, read)
        characters = characters_and_tags(read, self._tags) if self._tags else [*read]
        return [self._ids.get(one, UNKNOWN_ID) for one in characters], characters

    def phrases(self, text: bytes) -> list[tuple[list[int], list[str]]]:
        return [self.split(text), self.split(b" " + text)]

    def _written(self, tokens: Sequence[tuple[int, str]]) -> str:
        text = "".join(word or self._characters[number] for number, word in tokens)
        return unicodedata.normalize("NFC", text) if self._form else text


class _Pieces(PlainTokenizer):
    kind = "sentencepiece"
    splits_words = True

    def __init__(
        self, model: str, normalization: str | None = None, default_tags: str = "", **_: Any
    ) -> None:
        import sentencepiece

        from kerasnmt.text.normalization import substitutes

        self._processor = processor = sentencepiece.SentencePieceProcessor()
        processor.LoadFromSerializedProto(base64.b64decode(model))
        pieces = processor.id_to_piece([*range(4, len(processor))])
        super().__init__(pieces, default_tags)
        self.normalization = normalization
        self._substitutes = substitutes(pieces) if normalization else {}

    def normalize_source(self, text: bytes) -> bytes:
        from kerasnmt.text.normalization import with_substitutes

        if not (self.normalization or self._default_tags):
            return text
        tagged = self._with_tags(as_string(text))
        if not self.normalization:
            return tagged.encode()
        return with_substitutes(tagged, self._substitutes).encode()

    def split(self, text: bytes) -> tuple[list[int], list[str]]:
        from kerasnmt.text.normalization import nfc

        ids = self._processor.encode(nfc(as_string(text)) if self.normalization else text)
        return ids, [""] * len(ids)

    def phrases(self, text: bytes) -> list[tuple[list[int], list[str]]]:
        before = len(self.split(NO_LETTER.encode())[0])
        inside, words = self.split(NO_LETTER.encode() + text)
        return [self.split(text), (inside[before:], words[before:])]

    def decode(
        self, ids: Sequence[Sequence[int]], unknown_words: Sequence[Sequence[str]] | None = None
    ) -> list[str]:
        return [self._processor.decode([*row]) for row in ids]


class _InTensorFlow(PlainTokenizer):
    """Tokenizer from outside this library."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.kind, self.splits_words = tokenizer.kind, tokenizer.splits_words
        size = tokenizer.vocabulary_size
        super().__init__(
            [one.decode() for one in self._tokenizer.tokens([*range(4, size)]).numpy()]
        )

    def normalize_source(self, text: bytes) -> bytes:
        return self._tokenizer.normalize_source([text]).numpy()[0]

    def split(self, text: bytes) -> tuple[list[int], list[str]]:
        (ids,) = self._tokenizer.tokenize([text]).to_list()
        (words,) = self._tokenizer.words([text]).to_list()
        return ids, [word.decode() for word in words]

    def phrases(self, text: bytes) -> list[tuple[list[int], list[str]]]:
        forms = [form.to_list()[0] for form in self._tokenizer.phrase_ids([text])]
        # A word that is copied is in all forms.
        _, words = self.split(text)
        return [(ids, words if len(ids) == len(words) else [""] * len(ids)) for ids in forms]

    def decode(
        self, ids: Sequence[Sequence[int]], unknown_words: Sequence[Sequence[str]] | None = None
    ) -> list[str]:
        import tensorflow as tf

        rows = tf.ragged.constant(ids, tf.int32, ragged_rank=1)
        words = None if unknown_words is None else tf.ragged.constant(unknown_words, tf.string)
        return [text.decode() for text in self._tokenizer.detokenize(rows, words).numpy()]


_TOKENIZERS = {
    "WordTokenizer": _Words,
    "PlainWordTokenizer": _PlainWords,
    "PunctuationTokenizer": _WordsAndPunctuation,
    "CharacterTokenizer": _Characters,
    "SentencePieceTokenizer": _Pieces,
}


def capitals(characters: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the uppercase letter, and the lowercase letter, of each letter that has both."""
    special = {"ß": "ẞ"} | ({"ı": "I", "i": "İ"} if "ı" in characters else {})
    for lower in characters:
        upper = special.get(lower, lower.upper())
        if lower in special or (len(upper) == 1 and upper != lower == upper.lower()):
            yield upper, lower


def _spans(classes: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each punctuation mark or symbol begins and ends."""
    for match in re.compile(_SIGN).finditer(classes, start, end):
        yield match.span()


def _without_signs(word: str) -> str:
    """Return a word without the punctuation marks and symbols around it."""
    inside = [place for place, one in enumerate(word) if unicodedata.category(one)[0] not in "PS"]
    return word[inside[0] : inside[-1] + 1] if inside else ""


@functools.lru_cache(maxsize=1 << 16)
def _character_class(character: str) -> str:
    """Return the class of a character in `_SIGN`.

    It is S for a punctuation mark or symbol, T for a skin tone, M for a combining mark, J for the
    zero-width joiner, and "." for others.
    """
    if "\U0001f3fb" <= character <= "\U0001f3ff":
        return "T"
    if character == "\u200d":
        return "J"
    return {"P": "S", "S": "S", "M": "M"}.get(unicodedata.category(character)[0], ".")
