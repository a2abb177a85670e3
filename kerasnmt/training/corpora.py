"""Texts of a recipe's `data`."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import tensorflow as tf

from kerasnmt.alignment import parse_pharaoh_lines
from kerasnmt.data import Shards, builtin_corpus, read_parallel, read_tsv
from kerasnmt.data.lines import checked_lines
from kerasnmt.data.patterns import matching_files
from kerasnmt.data.tables import table_rows
from kerasnmt.text.tags import unknown_tags
from kerasnmt.training.processes import Processes

# Number of pairs of shards that fit into memory.
_SAMPLE = 10**6


class Corpora:
    """Sentence pairs of a recipe, with their contexts and alignments.

    Args:
        data: The section `data` of a recipe.
        processes: The processes of the training run, or None to ask the backend.

    Attributes:
        pairs: Dict with a dataset for each split, of `(source, target)` string scalars with known
            cardinality. The training pairs of a pattern are `Shards`, whose lines are not checked.
        own: The training pairs that this process reads: its shards, or all pairs if they are not
            in shards.
        readers: Number of processes that read their own shards, or 1 if each reads all pairs.
        contexts: Dict with the contexts of each split that has contexts. Contexts may be empty.
        fingerprints: Dict with the `bytes` and the `sha256` of each file, by its dotted key, such
            as `data.train.source`. They show later whether a file has changed. All files of a
            pattern have one fingerprint.

    Raises:
        ValueError: If a file is missing or malformed, or there are fewer shards than processes.
    """

    def __init__(self, data: Any, processes: Processes | None = None) -> None:
        data.check_files()
        self.data = data
        self.processes = processes or Processes()
        self.pairs: dict[str, Any] = {
            split: _shards(section)
            if section is data.train and section.streams
            else read_pairs(section, split)
            for split, section in data.splits.items()
        }
        self.own, self.readers = self.pairs["train"], 1
        if self.processes.count > 1 and isinstance(self.own, Shards):
            self.readers = self.processes.count
            try:
                self.own = self.own.part(self.readers, self.processes.index)
            except ValueError as error:
                raise ValueError(f"data.train: {error}") from error
        self.contexts = {
            split: lines_of(section.context)
            for split, section in data.splits.items()
            if section.context
        }
        self.fingerprints = {key: fingerprint(path) for key, path in data.files.items()}

    @cached_property
    def alignments(self) -> list[Sequence[tuple[int, int]]]:
        """Sure links (source word, target word) of each training pair.

        Raises:
            ValueError: If the file is missing or malformed.
        """
        train = self.data.train
        if train.builtin:
            return [pair.alignment for pair in builtin_corpus(train.builtin)]
        lines = lines_of(train.alignments)
        return [sure for sure, _ in parse_pharaoh_lines(lines, str(train.alignments))]

    @cached_property
    def weights(self) -> list[float] | None:
        """Weight of each training pair in the loss, or None if all have the weight 1.

        Raises:
            ValueError: If a file is missing or malformed, or a weight is no number of at least 0.
        """
        train = self.data.train
        if train.weights:
            path, texts_of = train.weights, lines_of(train.weights)
        elif train.weight is not None:
            path = train.pairs
            texts_of = [text.decode() for (text,) in table_rows(path, [train.weight])]
        else:
            return None
        return [_weight(text, number, path) for number, text in enumerate(texts_of, start=1)]

    def sample(self) -> tuple[list[str], list[str]]:
        """Return the texts of the training pairs, or of the first million pairs in shards."""
        train = self.pairs["train"]
        return texts(train.dataset().take(_SAMPLE) if isinstance(train, Shards) else train)

    def in_training(self) -> dict[str, tuple[int, int]]:
        """Return how many pairs of each other split are also training pairs, and of how many.

        Splits without such pairs are left out. Pairs in shards, and pairs with contexts, are not
        compared.
        """
        train = self.pairs["train"]
        if isinstance(train, Shards) or self.contexts:
            return {}
        others = {split: [*_rows(pairs)] for split, pairs in self.pairs.items() if split != "train"}
        both = {pair for pairs in others.values() for pair in pairs}.intersection(_rows(train))
        counts = {split: sum(pair in both for pair in pairs) for split, pairs in others.items()}
        return {split: (count, len(others[split])) for split, count in counts.items() if count}

    def unknown_tags(self, known: Sequence[str]) -> dict[str, list[str]]:
        """Return the tags in columns of tags that a model does not know, by the name of the split.

        Args:
            known: Tags that the model knows.
        """
        columns = (split for split, section in self.data.splits.items() if section.tags is not None)
        unknown = {
            split: unknown_tags(texts(self.pairs[split])[0], known)
            for split in columns
            if not isinstance(self.pairs[split], Shards)
        }
        return {split: tags for split, tags in unknown.items() if tags}


def _weight(text: str, number: int, path: Any) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise ValueError(
            "Expected a number of at least 0 as the weight of each pair. "
            f"Received: {text!r:.100}, the weight of pair {number} in {path}."
        )
    return weight


def read_pairs(section: Any, split: str) -> tf.data.Dataset:
    """Read the pairs of a section of a recipe's `data`.

    Args:
        section: Section with `source` and `target`, `pairs` or `builtin`.
        split: Name of the section, and of the split of the built-in corpus.

    Returns:
        A dataset of `(source, target)` string scalars with known cardinality.

    Raises:
        ValueError: If a file is missing or malformed.
    """
    if section.builtin:
        pairs = builtin_corpus(section.builtin, split)
        sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
        return tf.data.Dataset.from_tensor_slices(sides)
    if section.pairs:
        return read_tsv(section.pairs, section.columns, tags=section.tags)
    return read_parallel(section.source, section.target)


def texts(pairs: tf.data.Dataset) -> tuple[list[str], list[str]]:
    """Return the sources and the targets of a dataset of pairs, as `str`."""
    rows = zip(*_rows(pairs), strict=True)
    sides: Any = tuple([text.decode("utf-8") for text in side] for side in rows)
    return sides


def _rows(pairs: tf.data.Dataset) -> Iterator[tuple[bytes, bytes]]:
    """Yield pairs, in batches, which is much faster than one by one."""
    for sources, targets in pairs.batch(4096).as_numpy_iterator():
        yield from zip(sources, targets, strict=True)


def grouped(pairs: tuple[list[str], list[str]]) -> tuple[list[str], list[list[str]]]:
    """Group the references of each source.

    Args:
        pairs: Sources and references. Consecutive pairs with the same source belong together.

    Returns:
        The sources, and the list of references of each source.
    """
    rows = groupby(zip(*pairs, strict=True), key=itemgetter(0))
    together = [(source, [reference for _, reference in row]) for source, row in rows]
    sides: Any = tuple(map(list, zip(*together, strict=True)))
    return sides


def _shards(section: Any) -> Shards:
    if section.pairs:
        return Shards(section.pairs, columns=section.columns, tags=section.tags)
    return Shards(section.source, section.target)


def lines_of(path: Any) -> list[str]:
    """Return the lines of a file, with the same checks as for sentences."""
    return [line.decode() for name in matching_files(path) for line in checked_lines(name)]


def fingerprint(path: Any) -> dict[str, Any]:
    """Return the size and the hash of a file. For a pattern, hash the hashes of all files."""
    size, digests = 0, []
    for name in matching_files(path):
        with open(name, "rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
            size += file.tell()
    common = hashlib.sha256("".join(digests).encode()).hexdigest()
    return {"bytes": size, "sha256": digests[0] if len(digests) == 1 else common}
