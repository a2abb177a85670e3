"""Made-up names of people and places, which consist of syllables. Their number is not limited.

The rank of a name determines its spelling. Low ranks are drawn more often, so a corpus has a few
frequent names and very many rare ones. Names whose CRC-32 is divisible by 4 are the unseen
population. No name is in both populations.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from random import Random

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
ENDINGS = {
    "f": ("na", "ra", "la", "mia", "sa", "va", "ya"),
    "m": ("ko", "lo", "rin", "dus", "mon", "tor", "vik"),
    "place": ("burg", "stad", "ville", "mor", "holm", "wick", "grad"),
}
_RANKS = 300_000


def is_unseen(name: str) -> bool:
    """Return whether a name is in the population that only `"unseen_names"` uses."""
    return zlib.crc32(name.encode()) % 4 == 0


@lru_cache(maxsize=100_000)
def spell(kind: str, rank: int, unseen: bool) -> str:
    """Return the name of a rank, one to three syllables and an ending for the kind.

    Args:
        kind: `"f"` for a woman, `"m"` for a man, `"place"` for a place.
        rank: A non-negative integer. Two ranks can have the same name.
        unseen: Whether the name is from the unseen population.
    """
    rng = Random(rank)
    while True:
        length = (1, 1, 2, 2, 2, 2, 2, 2, 2, 3)[int(rng.random() * 10)]
        stem = "".join(_SYLLABLES[int(rng.random() * len(_SYLLABLES))] for _ in range(length))
        endings = ENDINGS[kind]
        name = (stem + endings[int(rng.random() * len(endings))]).capitalize()
        if is_unseen(name) == unseen:
            return name


def draw_name(rng: Random, kind: str, unseen: bool) -> str:
    """Draw a name. The probability of rank r is about proportional to 1 / (r + 40)."""
    rank = int(40 * ((1 + _RANKS / 40) ** rng.random() - 1))
    return spell(kind, rank, unseen)
