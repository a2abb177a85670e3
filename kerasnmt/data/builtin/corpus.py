"""Built-in corpus of English and German sentences with word alignments."""

from __future__ import annotations

import zlib
from random import Random
from typing import NamedTuple

from kerasnmt.data.builtin.grammar import Grammar

SPLITS = ("train", "validation", "test", "unseen_names")


class SyntheticPair(NamedTuple):
    """Sentence pair with its gold alignment.

    Attributes:
        source: English sentence, with words and punctuation separated by single spaces.
        target: German translation, in the same format.
        alignment: Pairs (source word, target word) of words that translate each other, counted from
            0.
        names: Made-up names in the order of the source. The target has the same names.
    """

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...]
    names: tuple[str, ...]


def builtin_corpus(size: int, split: str = "train", seed: int = 1) -> list[SyntheticPair]:
    """Generate pairs of English sentences and their German translations.

    A synchronous grammar of this library generates the pairs. The same arguments give the same
    pairs on every machine, and a smaller size gives the first pairs of a larger one. No English
    sentence occurs twice in a split, or in two splits, for any sizes and seeds. Sentences start
    with a lowercase letter; only names, German nouns and similar words are capitalized.

    Args:
        size: Number of pairs.
        split: `"train"`, `"validation"`, `"test"` or `"unseen_names"`. The first three draw names
            from the same population, and most names are rare. In `"unseen_names"`, every sentence
            has a name, and no name occurs in the other splits.
        seed: Seed of the corpus.

    Returns:
        A list of `SyntheticPair(source, target, alignment, names)`.

    Raises:
        ValueError: If `split` is unknown, or `size` is below 1.
    """
    if split not in SPLITS:
        raise ValueError(
            f"Expected a split of the built-in corpus. Received: split={split!r}. Choose one of "
            f"{', '.join(SPLITS)}."
        )
    if size < 1:
        raise ValueError(f"Expected at least 1 pair. Received: size={size}.")
    grammar = Grammar(Random(seed), unseen=split == "unseen_names")
    pairs: dict[str, SyntheticPair] = {}
    while len(pairs) < size:
        phrase, names = grammar.sentence()
        source = " ".join(word.text for word in phrase.source)
        if source not in pairs and _split_of(source, split == "unseen_names", names) == split:
            target = " ".join(word.text for word in phrase.target)
            pairs[source] = SyntheticPair(source, target, phrase.links(), names)
    return list(pairs.values())


def _split_of(source: str, unseen: bool, names: tuple[str, ...]) -> str | None:
    """Return the split of a sentence, which depends on its names or on its checksum."""
    if unseen:
        return "unseen_names" if names else None
    return {0: "validation", 1: "test"}.get(zlib.crc32(source.encode()) % 8, "train")
