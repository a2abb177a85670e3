"""Sentence pairs that a training does not see."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np

_BLANK = 0


def held_out(pairs: Iterable[tuple[bytes, bytes]], count: int) -> np.ndarray:
    """Choose pairs to hold out of a training.

    All pairs with the same source are held out together or not at all, so the training sees no
    held-out source. Pairs that are empty on a side are not held out. The choice looks random, but
    depends only on the pairs: the same corpus always gives the same choice.

    Args:
        pairs: The sources and the targets of a corpus.
        count: Number of pairs to hold out. There are fewer if no group of pairs with the same
            source is small enough.

    Returns:
        Whether each pair is held out, bool `[pairs]`.
    """
    numbers = np.fromiter(_numbers(pairs), "uint64")
    distinct, group_of, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    held, missing = np.zeros(len(distinct), bool), count
    for group in np.flatnonzero(distinct != _BLANK):
        if sizes[group] <= missing:
            held[group] = True
            missing -= sizes[group]
        if not missing:
            break
    return held[group_of]


def _numbers(pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[int]:
    """Yield a number for each source that looks random, and `_BLANK` for pairs to leave out."""
    for source, target in pairs:
        if source.strip() and target.strip():
            yield int.from_bytes(hashlib.blake2b(source, digest_size=8).digest())
        else:
            yield _BLANK
