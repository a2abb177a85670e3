"""Rule for texts in capitals, or without any, which are read as ordinary sentences.

The option `sentence_case` of a translation uses it. This module does not need TensorFlow;
`kerasnmt.text.letter_case` has the rule in a graph.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable

from kerasnmt.text.parts import APOSTROPHES, SPACES, tags_at_start

# Patterns of a text in which a letter stands for the kind of each character; see `_kind`.
_IN_CAPITALS = re.compile("[^lx]*u[^lx]*u[^lx]*")
_FIRST_LETTER = re.compile("[^ln]*(l).*")
_FIRST_OF_WORD = re.compile("[^ln]*(l)[lma]*[^ln ]*(?: .*)?")
_KINDS = {"Lu": "u", "Lt": "t", "Ll": "l", "L": "x", "N": "n", "M": "m"}


def in_sentence_case(text: str, tags: Iterable[str] = ()) -> str:
    """Return a text in capitals in lowercase, with a capital letter at the start.

    A text without capitals gets one too, if its first word begins with a letter and is no address,
    such as `keras.io`. Other texts stay as they are, and so do texts with letters that have no
    case, such as those of Chinese, or with U+0000, where TensorFlow would cut them.

    Args:
        text: Text.
        tags: Tags of the tokenizer. Those at the start of the text stay as they are.
    """
    start = tags_at_start(text, tags)
    rest = text[len(start) :]
    pattern = _FIRST_OF_WORD
    if in_capitals(rest):
        rest, pattern = rest.lower(), _FIRST_LETTER
    kinds = _kinds(rest)
    if not {*"utx"} & {*kinds} and (found := pattern.fullmatch(kinds)):
        first = found.start(1)
        rest = rest[:first] + rest[first].upper() + rest[first + 1 :]
    return start + rest


def in_capitals(text: str, tags: Iterable[str] = ()) -> bool:
    """Whether a text has several capital letters, no lowercase ones, and none without case."""
    return _IN_CAPITALS.fullmatch(_kinds(text[len(tags_at_start(text, tags)) :])) is not None


def has_lowercase(text: str) -> bool:
    """Whether a text has lowercase letters."""
    return any(unicodedata.category(one) == "Ll" for one in text)


def _kinds(text: str) -> str:
    return "".join(map(_kind, text))


@functools.lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """Return a letter for the kind of a character."""
    if character == "\0" or "\u10d0" <= character <= "\u10ff":  # Georgian has no capitals at starts
        return "x"
    if re.match(f"[{SPACES}]", character):
        return " "
    if character in f"{APOSTROPHES}-":
        return "a"
    category = unicodedata.category(character)
    return _KINDS.get(category) or _KINDS.get(category[0], ".")
