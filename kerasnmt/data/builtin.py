"""Built-in corpus of English and German sentences with word alignments.

The folder `corpus` has a file for each split, compressed with xz. Each line is a pair, with four
columns separated by tabs: source, target, alignment in the Pharaoh format, and names.
"""

from __future__ import annotations

import lzma
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kerasnmt.sizes import check_size

# Number of pairs of each split.
SIZES = {"train": 50_000, "validation": 5_000, "test": 5_000, "unseen_names": 5_000}
_FOLDER = Path(__file__).with_name("corpus")


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
    """Read pairs of English sentences and their German translations, which come with the library.

    The corpus is synthetic: a synchronous grammar of English and German generated the pairs and
    their alignments. The corpus is under the license of the library, Apache-2.0.

    A smaller size gives the first pairs of a larger one. No English sentence occurs twice in a
    split, or in two splits. Sentences start with a lowercase letter; only names, German nouns and
    similar words are capitalized.

    Args:
        size: Number of pairs, at most 50,000 for `"train"` and 5,000 for each other split.
        split: `"train"`, `"validation"`, `"test"` or `"unseen_names"`. The first three have names
            from the same population, and most names are rare. In `"unseen_names"`, every sentence
            has a name, and no name occurs in the other splits.
        seed: Seed with which the corpus was generated. It is always 1.

    Returns:
        A list of `SyntheticPair(source, target, alignment, names)`.

    Raises:
        ValueError: If `split` is unknown, `size` is not an integer, is below 1 or is above the size
            of the split, or `seed` is not 1.
    """
    if split not in SIZES:
        raise ValueError(
            f"Expected a split of the built-in corpus. Received: split={split!r}. Choose one of "
            f"{', '.join(SIZES)}."
        )
    check_size("size", size)
    if size > SIZES[split]:
        raise ValueError(
            f"Expected size at most {SIZES[split]:,}, the number of pairs of the split {split!r} "
            f"of the built-in corpus. Received: size={size}. Read fewer pairs, or repeat them."
        )
    if seed != 1:
        raise ValueError(
            "Expected seed=1, with which the built-in corpus was generated. "
            f"Received: seed={seed!r}. Leave it out."
        )
    path = _FOLDER / f"{split}.tsv.xz"
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [_pair(line) for line in islice(lines, size)]


def _pair(line: str) -> SyntheticPair:
    source, target, alignment, names = line.removesuffix("\n").split("\t")
    links = tuple(_link(link) for link in alignment.split())
    return SyntheticPair(source, target, links, tuple(names.split()))


@cache  # sentences are short, so there are few different links
def _link(link: str) -> tuple[int, int]:
    source, target = link.split("-")
    return int(source), int(target)
