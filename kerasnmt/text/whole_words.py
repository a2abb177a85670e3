"""Places where words begin and end in texts and tokens, without TensorFlow."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.scripts import is_unspaced_letter

# Marks that a space follows, unless they are within a word, such as "3.14".
_BEFORE_SPACES = (*".,;:!?…)]}»",)
# Characters without a width inside words, such as those of Persian and of emoji.
_JOINERS = "\u00ad\u200c\u200d\u2060"
NO_LETTER = "\ue000"  # private, so that no piece contains it


def occurs(phrase: str, text: str) -> bool:
    """Return whether a text contains a phrase as whole words.

    A word begins and ends at the start and the end of the text, and beside each character that is
    no letter, mark, digit or joiner. In scripts without spaces, every letter with its marks begins
    and ends a word.

    Args:
        phrase: Phrase, with at least one character.
        text: Text.
    """
    place = text.find(phrase)
    while place >= 0:
        if is_boundary(text, place) and is_boundary(text, place + len(phrase)):
            return True
        place = text.find(phrase, place + 1)
    return False


def is_boundary(text: str, place: int) -> bool:
    """Return whether a word can begin or end before the character at `place`."""
    if place in (0, len(text)):
        return True
    if _goes_on(text[place]) or text[place - 1] in _JOINERS:
        return False
    return closes(text, place) or _is_apart(text[place])


def opens(text: str) -> bool:
    """Return whether a word can begin with a text, after any other text."""
    return bool(text) and _is_apart(text[0])


def closes(text: str, end: int | None = None) -> bool:
    """Return whether a word can begin after the first `end` characters of a text, or after all."""
    letter = _last_letter(text, len(text) if end is None else end)
    return bool(letter) and _is_apart(letter)


def word_places(entries: Sequence[str], splits_words: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return where words can begin in sequences of tokens.

    Args:
        entries: Text of each id of a vocabulary, where "▁" stands for a space.
        splits_words: Whether a token may be a part of a word. Otherwise, each token is a word.

    Returns:
        Whether a word can begin with each token, whatever is before it, and whether a word can
        begin after it, whatever follows, boolean `[vocabulary]` each. No word begins directly after
        a token that ends with a mark before a space, such as a comma, or with a letter that a mark
        of the vocabulary may follow, as in Thai.
    """
    if not splits_words:
        return np.ones(len(entries), bool), np.ones(len(entries), bool)
    has_marks = any(entry and _goes_on(entry[0]) for entry in entries)

    def closes_always(entry: str) -> bool:
        may_go_on = has_marks and is_unspaced_letter(_last_letter(entry, len(entry)))
        return closes(entry) and not may_go_on and not entry.endswith(_BEFORE_SPACES)

    sides = np.array([[opens(entry), closes_always(entry)] for entry in entries], bool)
    sides[: UNKNOWN_ID + 3] = False
    return sides[:, 0], sides[:, 1]


@lru_cache(maxsize=1 << 14)
def _is_apart(character: str) -> bool:
    """Return whether a character is no part of a word with the characters beside it."""
    if is_unspaced_letter(character):
        return True
    return unicodedata.category(character)[0] not in "LMN" and character not in _JOINERS


@lru_cache(maxsize=1 << 14)
def _goes_on(character: str) -> bool:
    """Return whether a character belongs to the one before it."""
    return unicodedata.category(character)[0] == "M" or character in _JOINERS


def _last_letter(text: str, end: int) -> str:
    """Return the last of the first `end` characters that is not a mark, or an empty string."""
    while end and unicodedata.category(text[end - 1])[0] == "M":
        end -= 1
    return text[end - 1 : end]
