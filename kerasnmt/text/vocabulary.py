"""What the vocabularies that are plain lists have in common."""

from collections import Counter
from collections.abc import Sequence


def most_frequent(counts: Counter, vocabulary_size: int | None) -> list[str]:
    """Returns the entries from id 4 on: the most frequent first, equals by code point.

    Args:
        counts: how often each entry occurs.
        vocabulary_size: the most ids, with the four that every tokenizer has; None for all.

    Returns:
        `vocabulary_size - 4` entries, or as many as there are.

    Raises:
        ValueError: if `vocabulary_size` leaves no entry, or there is none.
    """
    if vocabulary_size is not None and vocabulary_size < 5:
        raise ValueError(
            "Expected a vocabulary_size of at least 5: four ids are padding, unknown, start and "
            f"end. Received: vocabulary_size={vocabulary_size}."
        )
    if not counts:
        raise ValueError(
            "Expected a corpus with something to count, found only spaces and reserved words. "
            f"Received: vocabulary_size={vocabulary_size}."
        )
    entries = sorted(counts, key=lambda entry: (-counts[entry], entry))
    return entries if vocabulary_size is None else entries[: vocabulary_size - 4]


def counts_of_ids(counts: Counter, entries: Sequence[str], sentences: int) -> list[int]:
    """Returns how often each id occurred, the four first ones included.

    Args:
        counts: how often each entry occurs, those without an id as well.
        entries: the entries from id 4 on.
        sentences: number of sentences, each of which has an end.
    """
    known = [counts[entry] for entry in entries]
    return [0, counts.total() - sum(known), 0, sentences, *known]


def check_entries(name: str, entries: Sequence[str]) -> None:
    """Raises a `ValueError` unless `entries`, the argument `name`, are distinct and any."""
    if isinstance(entries, str) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"Expected a list of strings. Received: {name}={entries!r:.80}.")
    repeated = [entry for entry, count in Counter(entries).items() if count > 1]
    if repeated or not entries:
        raise ValueError(
            f"Expected at least one entry, and none twice. Received: {name} with "
            + (f"{repeated[0]!r} repeated." if repeated else "no entry.")
        )
