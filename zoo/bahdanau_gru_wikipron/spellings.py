"""Other spellings of words: in capitals, with a hyphen, another apostrophe, or in katakana.

`prepare.py` adds them to the training words. Each function takes a word and the code of its
language, and returns the other spelling, or None if the word has none.
"""

import random
import re
import unicodedata
from collections.abc import Sequence

Row = tuple[str, ...]  # word, phones, language

WITHOUT_SPACES = {"jpn", "khm", "mya", "tha"}


def in_capitals(word: str, language: str) -> str | None:
    """Write all letters as capitals. Turkish has `İ`; in Greek, capitals have no accents."""
    if language == "kat":
        return None  # Georgian capitals are for headlines, and rare
    if language == "tur":
        word = word.replace("i", "İ")
    upper = word.upper()
    if language == "ell":
        upper = re.sub("[\u0300\u0301\u0342]", "", unicodedata.normalize("NFD", upper))
        upper = unicodedata.normalize("NFC", upper)
    return upper if upper != word else None


def with_capital(word: str, language: str) -> str | None:
    """Write a capital at the start, or a lowercase letter in place of one."""
    first = word[:1]
    if language == "tur":
        first = {"i": "İ", "İ": "i", "ı": "I", "I": "ı"}.get(first, first.swapcase())
    else:
        first = first.swapcase()
    return first + word[1:] if len(first) == 1 and first != word[:1] else None


def other_apostrophe(word: str, language: str) -> str | None:
    """Write a typographic apostrophe in place of a plain one, and the other way round."""
    other = word.translate({ord("'"): "’", ord("’"): "'"})
    return other if other != word else None


def in_katakana(word: str, language: str) -> str | None:
    """Write hiragana as katakana."""
    other = re.sub("[ぁ-ゖ]", lambda found: chr(ord(found[0]) + 0x60), word)
    return other if other != word else None


def other_spellings(rows: Sequence[Row], share: float, rng: random.Random) -> list[Row]:
    """Return words in other spellings, and pairs of words with a hyphen between them.

    Args:
        rows: Words of one language, with their phones.
        share: How many of the words get another spelling, and another capital. A sixth as many
            pairs get a hyphen. All words with an apostrophe get the other one.
        rng: Source of random numbers.
    """
    language = rows[0][2]
    other = in_katakana if language == "jpn" else in_capitals
    found = []
    for spell, part in ((other, share), (with_capital, share), (other_apostrophe, 1)):
        chosen = [row for row in rows if rng.random() < part]
        spelled = [(spell(word, language), phones) for word, phones, _ in chosen]
        found += [(word, phones, language) for word, phones in spelled if word is not None]
    if language not in WITHOUT_SPACES:
        for _ in range(int(share * len(rows) / 6)):
            (one, phones, _), (other_one, more, _) = rng.sample(rows, 2)
            if "-" not in one + other_one:
                found.append((f"{one}-{other_one}", f"{phones} {more}", language))
    return found
