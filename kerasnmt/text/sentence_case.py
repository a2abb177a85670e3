"""Texts in capitals, or without any, which a model reads as sentences, without TensorFlow.

`sentence_case` of `kerasnmt.decoding.TranslationOptions` is the option of the translation.
"""

import re
import unicodedata
from collections.abc import Iterable

from kerasnmt.text.parts import APOSTROPHES, SPACES, tags_at_start

# Patterns of a text in which a letter stands for the kind of each character; see `_kind`.
_IN_CAPITALS = re.compile("[^lg0]*u[^lg0]*u[^lg0]*")
_FIRST_LETTER = re.compile("[^utlgon]*(l)[utlgoma]*[^utlgon ]*(?: .*)?")
_KINDS = {"Lu": "u", "Lt": "t", "Ll": "l", "L": "o", "N": "n", "M": "m"}


def in_sentence_case(text: str, tags: Iterable[str] = ()) -> str:
    """Return a text in capitals in lowercase, and a text without capitals with one at the start.

    A text in capitals has several capital letters, and no lowercase ones. It has no U+0000, at
    which TensorFlow would cut it. The start is the first letter of the text, unless a number is
    before it, or its word is an address, such as `keras.io`, or Georgian.

    Args:
        text: Text.
        tags: Tags of the tokenizer. Those at the start of the text stay as they are.
    """
    start = tags_at_start(text, tags)
    rest = text[len(start) :]
    if in_capitals(rest):
        rest = rest.lower()
    kinds = _kinds(rest)
    if not re.search("[ut]", kinds) and (found := _FIRST_LETTER.fullmatch(kinds)):
        first = found.start(1)
        rest = rest[:first] + rest[first].upper() + rest[first + 1 :]
    return start + rest


def in_capitals(text: str) -> bool:
    """Whether a text without tags is in capitals; see `in_sentence_case`."""
    return _IN_CAPITALS.fullmatch(_kinds(text)) is not None


def writes_capitals(text: str, tags: Iterable[str], prefix: str = "") -> bool:
    """Whether the translation of a text is in capitals.

    Args:
        text: Text.
        tags: Tags of the tokenizer.
        prefix: Words with which the translation must begin.
    """
    return in_capitals(text[len(tags_at_start(text, tags)) :]) and not has_lowercase(prefix)


def has_lowercase(text: str) -> bool:
    """Whether a text has lowercase letters."""
    return any(unicodedata.category(one) == "Ll" for one in text)


def _kinds(text: str) -> str:
    return "".join(map(_kind, text))


def _kind(character: str) -> str:
    """Return a letter for the kind of a character."""
    if character == "\0" or "ა" <= character <= "ჿ":  # Georgian sentences begin without a capital
        return "0" if character == "\0" else "g"
    if re.match(f"[{SPACES}]", character):
        return " "
    if character in f"{APOSTROPHES}-":
        return "a"
    category = unicodedata.category(character)
    return _KINDS.get(category) or _KINDS.get(category[0], ".")
