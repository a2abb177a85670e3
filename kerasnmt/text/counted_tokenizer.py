"""Tokenizers whose vocabulary is a list of units, such as words: the most frequent of a corpus."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text.sentences import sample_of_sentences
from kerasnmt.text.tokenizer import Tokenizer


class CountedTokenizer(Tokenizer):
    """Base of tokenizers that count units of a corpus.

    A subclass defines `_count`, and its constructor takes the units and their counts.
    """

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int | None = None,
        *,
        sample: int = 1_000_000,
    ) -> Self:
        """Take the most frequent units of a corpus; equally frequent ones by code point.

        Args:
            dataset: A `tf.data.Dataset` of strings or of `(source, target)` strings, or an iterable
                of `str` or of pairs of `str`. Both sides of a pair count.
            vocabulary_size: Most ids, the four of every tokenizer included; None for all units.
            sample: Number of sentences to draw at random from a larger corpus. Units that occur in
                none of them stay unknown.

        Returns:
            The tokenizer.

        Raises:
            ValueError: The corpus is empty or not of strings, or `vocabulary_size` is below 5.
        """
        texts = cls._as_read(sample_of_sentences(dataset, sample))
        counts = cls._count(texts)
        units = _most_frequent(counts, vocabulary_size)
        return cls(units, _counts_of_ids(counts, units, len(texts)))

    @classmethod
    def _as_read(cls, texts: list[str]) -> list[str]:
        """Return sentences as the tokenizer reads them, without those that are then blank."""
        return texts

    @classmethod
    def _count(cls, texts: list[str]) -> Counter:
        """Count the units of sentences."""
        raise NotImplementedError


def check_units(name: str, units: Sequence[str]) -> None:
    """Raise a `ValueError` unless `units`, the argument `name`, are distinct and any."""
    if isinstance(units, str) or not all(isinstance(unit, str) for unit in units):
        raise ValueError(f"Expected a list of strings. Received: {name}={units!r:.80}.")
    repeated = [unit for unit, count in Counter(units).items() if count > 1]
    if repeated or not units:
        raise ValueError(
            f"Expected at least one entry, and none twice. Received: {name} with "
            + (f"{repeated[0]!r} repeated." if repeated else "no entry.")
        )


def ids_of_units(units: tf.Tensor) -> tf.lookup.StaticHashTable:
    """Return the table from units `[units]` to their ids from 4 on; others get the unknown id."""
    ids = tf.range(4, 4 + units.shape[0])
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(units, ids), default_value=UNKNOWN_ID
    )


def _most_frequent(counts: Counter, vocabulary_size: int | None) -> list[str]:
    """Return the units from id 4 on."""
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
    units = sorted(counts, key=lambda unit: (-counts[unit], unit))
    return units if vocabulary_size is None else units[: vocabulary_size - 4]


def _counts_of_ids(counts: Counter, units: Sequence[str], sentences: int) -> list[int]:
    """Return the number of occurrences of each id; each sentence has an end."""
    known = [counts[unit] for unit in units]
    return [0, counts.total() - sum(known), 0, sentences, *known]
