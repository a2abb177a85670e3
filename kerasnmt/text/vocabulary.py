"""Base class of tokenizers whose vocabulary is a list of words or characters."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import tensorflow as tf

from kerasnmt.columns import as_texts
from kerasnmt.sizes import check_size
from kerasnmt.text.sentences import sample_of_sentences
from kerasnmt.text.tokenizer import Tokenizer


class VocabularyTokenizer(Tokenizer):
    """Base class of tokenizers whose vocabulary is a list of entries, such as words.

    The constructor of a subclass takes the list and its counts.
    """

    @classmethod
    def _from_units(
        cls,
        dataset: tf.data.Dataset | Iterable,
        units: Callable[[Sequence[str]], Iterable[Iterable[str]]],
        vocabulary_size: int | None,
        sample: int,
        **options: Any,
    ) -> Self:
        """Choose the most frequent units of each text, for a tokenizer with these options."""
        counts: Counter[str] = Counter()
        texts = sample_of_sentences(dataset, sample)
        for one in units(texts):
            counts.update(one)
        entries = most_frequent(counts, vocabulary_size)
        return cls(entries, counts_of_ids(counts, entries, len(texts)), **options)


def most_frequent(counts: Counter, vocabulary_size: int | None) -> list[str]:
    """Return the entries with ids from 4, most frequent first. Ties are sorted by code points.

    Args:
        counts: Number of occurrences of each entry.
        vocabulary_size: Maximum number of ids, including the four special ids, or None for no
            maximum.

    Returns:
        At most `vocabulary_size - 4` entries.

    Raises:
        ValueError: If `vocabulary_size` is not an integer of at least 5, or there are no entries.
    """
    if vocabulary_size is not None:
        check_size("vocabulary_size", vocabulary_size, least=5)
    if not counts:
        raise ValueError(
            "Expected a corpus with words or characters. Received: only spaces and reserved words, "
            f"vocabulary_size={vocabulary_size}."
        )
    entries = sorted(counts, key=lambda entry: (-counts[entry], entry))
    return entries if vocabulary_size is None else entries[: vocabulary_size - 4]


def counts_of_ids(counts: Counter, entries: Sequence[str], sentences: int) -> list[int]:
    """Return the number of occurrences of each id, from 0.

    Args:
        counts: Number of occurrences of each entry, including entries without an id.
        entries: Entries with ids from 4.
        sentences: Number of sentences. Each sentence has one end token.

    Returns:
        The counts, `[4 + len(entries)]`.
    """
    known = [counts[entry] for entry in entries]
    return [0, counts.total() - sum(known), 0, sentences, *known]


def checked_entries(name: str, entries: Any) -> list[str]:
    """Check that `entries`, the argument called `name`, are distinct and not empty; return them."""
    entries = as_texts(name, entries)
    repeated = [entry for entry, count in Counter(entries).items() if count > 1]
    if repeated or not entries:
        raise ValueError(
            f"Expected at least one entry, and no duplicates. Received: {name} with "
            + (f"{repeated[0]!r} repeated." if repeated else "no entries.")
        )
    return entries
