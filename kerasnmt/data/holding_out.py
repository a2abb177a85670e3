"""Sentence pairs that are held out of training."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np

_BLANK = 0


def held_out(pairs: Iterable[tuple[bytes, bytes]], count: int) -> np.ndarray:
    """Choose pairs to hold out of training.

    All pairs with the same source are held out together, or none of them. So training sees no
    source that is held out. Pairs with an empty side are not held out. The choice looks random, but
    depends only on the pairs: the same corpus always gives the same choice.

    Args:
        pairs: Sources and targets of a corpus.
        count: Number of pairs to hold out. Fewer are held out if all remaining groups of pairs with
            the same source are too large.

    Returns:
        Boolean `[pairs]`, True for pairs that are held out.
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
    """Yield a random-looking number for each source, or `_BLANK` for pairs with an empty side."""
    for source, target in pairs:
        if source.strip() and target.strip():
            yield int.from_bytes(hashlib.blake2b(source, digest_size=8).digest())
        else:
            yield _BLANK
