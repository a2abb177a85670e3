"""Batches of texts of like length."""

from collections.abc import Iterator, Sequence


def like_lengths(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the places of texts, the shortest first, `batch_size` at a time.

    Texts of like length together are little padding, and few steps wasted on ended rows.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
