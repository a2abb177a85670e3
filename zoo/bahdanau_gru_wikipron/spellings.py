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
    """Write all letters as capitals, by the rules of the language."""
    if language == "kat":
        return None  # Georgian has capitals only in headlines
    start = ""
    if language == "tur":
        word = word.replace("i", "İ")
    elif language == "hye":
        word = word.replace("և", "եվ")
    elif language == "gle" and (prefix := re.match("[a-z]+(?=[A-ZÁÉÍÓÚ])", word)):
        start = prefix[0]  # nGaeilge, nGAEILGE
    upper = word[len(start) :].upper()
    if language == "ell":  # no accents, and ϊ, ϋ where an accent has shown that they are vowels
        split = re.sub("([ΆΈΌ])([ΙΥ])", lambda found: found[1] + found[2] + "\u0308", upper)
        plain = re.sub("[\u0300\u0301\u0342]", "", unicodedata.normalize("NFD", split))
        upper = unicodedata.normalize("NFC", plain)
    return start + upper if start + upper != word else None


def with_capital(word: str, language: str) -> str | None:
    """Write a capital at the start, or a lowercase letter in place of the only capital."""
    first = word[:2] if language == "nld" and word.startswith("ij") else word[:1]
    rest = word[len(first) :]
    if language == "tur":
        first = {"i": "İ", "İ": "i", "ı": "I", "I": "ı"}.get(first, first.swapcase())
    else:
        first = first.swapcase()
    same = first + rest == word or len(first + rest) != len(word)
    return None if same or language == "kat" or rest != rest.lower() else first + rest


def other_apostrophe(word: str, language: str) -> str | None:
    """Write a typographic apostrophe in place of a plain one, and the other way round."""
    other = word.translate({ord("'"): "’", ord("’"): "'"})
    return other if other != word else None


def in_katakana(word: str, language: str) -> str | None:
    """Write hiragana as katakana."""
    other = re.sub("[ぁ-ゖ]", lambda found: chr(ord(found[0]) + 0x60), word)
    return other if other != word else None


SPELLINGS = {
    spell.__name__: spell for spell in (in_capitals, with_capital, other_apostrophe, in_katakana)
}


def other_spellings(rows: Sequence[Row], share: float, rng: random.Random) -> list[Row]:
    """Return words in other spellings, and pairs of words with a hyphen between them.

    Args:
        rows: Words of one language, with their phones.
        share: Fraction of the rows that are written in capitals, or in katakana, and of those whose
            first letter changes its case. A sixth of it is the fraction of pairs with a hyphen. All
            words with an apostrophe get the other one.
        rng: Source of random numbers.
    """
    if not rows:
        return []
    language = rows[0][2]
    other = in_katakana if language == "jpn" else in_capitals
    found = []
    for spell, part in ((other, share), (with_capital, share), (other_apostrophe, 1)):
        chosen = [row for row in rows if rng.random() < part]
        spelled = [(spell(word, language), phones) for word, phones, _ in chosen]
        found += [(word, phones, language) for word, phones in spelled if word is not None]
    if language not in WITHOUT_SPACES:
        for _ in range(int(share * len(rows) / 6)):
            (one, phones, _), (more, others, _) = rng.choice(rows), rng.choice(rows)
            if one != more:
                found.append((f"{one}-{more}", f"{phones} {others}", language))
    return found
