"""Functions of vocabularies that are plain lists."""

from collections import Counter
from collections.abc import Sequence


def most_frequent(counts: Counter, vocabulary_size: int | None) -> list[str]:
    """Return the entries with ids from 4: most frequent first, ties in the order of code points.

    Args:
        counts: The number of occurrences of each entry.
        vocabulary_size: Maximum number of ids, with the four special ids; `None` for no maximum.

    Returns:
        At most `vocabulary_size - 4` entries.

    Raises:
        ValueError: If `vocabulary_size` is below 5, or there are no entries.
    """
    if vocabulary_size is not None and vocabulary_size < 5:
        raise ValueError(
            "Expected a vocabulary_size of at least 5: four ids are padding, unknown, start and "
            f"end. Received: vocabulary_size={vocabulary_size}."
        )
    if not counts:
        raise ValueError(
            "Expected a corpus with text to count, found only spaces and reserved words. "
            f"Received: vocabulary_size={vocabulary_size}."
        )
    entries = sorted(counts, key=lambda entry: (-counts[entry], entry))
    return entries if vocabulary_size is None else entries[: vocabulary_size - 4]


def counts_of_ids(counts: Counter, entries: Sequence[str], sentences: int) -> list[int]:
    """Return the number of occurrences of each id, from 0.

    Args:
        counts: The number of occurrences of each entry, including entries without an id.
        entries: The entries with ids from 4.
        sentences: The number of sentences. Each has one end token.

    Returns:
        The counts, `[4 + len(entries)]`.
    """
    known = [counts[entry] for entry in entries]
    return [0, counts.total() - sum(known), 0, sentences, *known]


def check_entries(name: str, entries: Sequence[str]) -> None:
    """Check that `entries`, the argument called `name`, are distinct strings, at least one."""
    if isinstance(entries, str) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"Expected a list of strings. Received: {name}={entries!r:.80}.")
    repeated = [entry for entry, count in Counter(entries).items() if count > 1]
    if repeated or not entries:
        raise ValueError(
            f"Expected at least one entry, and no duplicates. Received: {name} with "
            + (f"{repeated[0]!r} repeated." if repeated else "no entries.")
        )
