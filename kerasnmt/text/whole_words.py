"""Places where words begin and end in texts and tokens, without TensorFlow."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.scripts import is_unspaced_letter

# Marks that a space follows, unless they are within a word, such as "3.14".
_BEFORE_SPACES = (*".,;:!?…)]}»",)
NO_LETTER = "\ue000"  # private, so that no piece contains it


def occurs(phrase: str, text: str) -> bool:
    """Return whether a text contains a phrase as whole words.

    A word begins and ends at the start and the end of the text, and beside each character that is
    no letter, mark or digit. In scripts without spaces, every letter begins and ends a word.

    Args:
        phrase: Phrase, with at least one character.
        text: Text.
    """
    return any(True for _ in places(phrase, text))


def places(phrase: str, text: str) -> Iterator[int]:
    """Yield the places where a phrase begins in a text, as whole words; see `occurs`."""
    place = text.find(phrase)
    while place >= 0:
        if is_boundary(text, place) and is_boundary(text, place + len(phrase)):
            yield place
        place = text.find(phrase, place + 1)


def is_boundary(text: str, place: int) -> bool:
    """Return whether a word can begin or end before the character at `place`."""
    return place in (0, len(text)) or closes(text[:place]) or opens(text[place:])


def opens(text: str) -> bool:
    """Return whether a word can begin with a text, after any other text."""
    return bool(text) and _is_apart(text[0])


def closes(text: str) -> bool:
    """Return whether a word can begin after a text, whatever follows."""
    # A mark belongs to the letter before it.
    letters = (one for one in reversed(text) if unicodedata.category(one)[0] != "M")
    return any(_is_apart(one) for one in [*letters][:1])


def word_places(entries: Sequence[str], splits_words: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return where words can begin in sequences of tokens.

    Args:
        entries: Text of each id of a vocabulary, where "▁" stands for a space.
        splits_words: Whether a token may be a part of a word. Otherwise, each token is a word.

    Returns:
        Whether a word can begin with each token, whatever is before it, and whether a word can
        begin after it, whatever follows, boolean `[vocabulary]` each. No word begins directly after
        a token that ends with a mark before a space, such as a comma.
    """
    if not splits_words:
        return np.ones(len(entries), bool), np.ones(len(entries), bool)
    sides = np.array(
        [[opens(entry), closes(entry) and not entry.endswith(_BEFORE_SPACES)] for entry in entries],
        bool,
    )
    sides[: UNKNOWN_ID + 3] = False
    return sides[:, 0], sides[:, 1]


@lru_cache(maxsize=1 << 14)
def _is_apart(character: str) -> bool:
    """Return whether a character is no part of a word with the characters beside it."""
    return unicodedata.category(character)[0] not in "LMN" or is_unspaced_letter(character)
