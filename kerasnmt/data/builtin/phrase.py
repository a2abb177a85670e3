"""Bilingual phrases, which are English and German words with the links between them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple


class Word(NamedTuple):
    """Word with keys. English and German words with a common key translate each other."""

    text: str
    keys: frozenset[object]


Words = tuple[Word, ...]


def words(text: str, *keys: object) -> Words:
    """Split `text` at spaces. All words get the same `keys`."""
    common = frozenset(keys)
    return tuple(Word(word, common) for word in text.split())


@dataclass(frozen=True, slots=True)
class Phrase:
    """English (`source`) and German (`target`) words of one constituent. `+` joins two phrases."""

    source: Words = ()
    target: Words = ()

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.source + other.source, self.target + other.target)

    def __bool__(self) -> bool:
        return bool(self.source or self.target)

    def links(self) -> tuple[tuple[int, int], ...]:
        """Return the (source word, target word) pairs with a common key, counted from 0, sorted."""
        places = defaultdict(list)
        for place, word in enumerate(self.source):
            for key in word.keys:
                places[key].append(place)
        return tuple(
            sorted(
                {
                    (source, target)
                    for target, word in enumerate(self.target)
                    for key in word.keys
                    for source in places.get(key, ())
                }
            )
        )


NOTHING = Phrase()


def linked(source: str, target: str) -> Phrase:
    """Return a phrase where every word of `source` is linked to every word of `target`."""
    key = object()
    return Phrase(words(source, key), words(target, key))


def aligned(source: str, target: str) -> Phrase:
    """Return a phrase that is linked word by word. `_` joins words that are linked to one word."""
    phrase = NOTHING
    for pair in zip(source.split(), target.split(), strict=True):
        phrase += linked(*(words.replace("_", " ") for words in pair))
    return phrase
