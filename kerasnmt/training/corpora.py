"""The sentence pairs that a recipe names."""

import hashlib
from typing import Any

import tensorflow as tf

from kerasnmt.data import builtin_corpus, read_parallel, read_tsv
from kerasnmt.viz import parse_pharaoh_lines


def read_pairs(section: Any, split: str) -> tf.data.Dataset:
    """Reads the pairs of one section under a recipe's `data`.

    Args:
        section: with `source` and `target`, `pairs` or `builtin`.
        split: the section's name; of the built-in corpus, the split of this name.

    Returns:
        a dataset of `(source, target)` string scalars, of known cardinality.

    Raises:
        ValueError: a file is missing or not as it should be.
    """
    if section.builtin:
        pairs = builtin_corpus(section.builtin, split)
        sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
        return tf.data.Dataset.from_tensor_slices(sides)
    if section.pairs:
        return read_tsv(section.pairs)
    return read_parallel(section.source, section.target)


def read_alignments(section: Any) -> list[list[tuple[int, int]]]:
    """Reads the word alignments of the pairs of one section under a recipe's `data`.

    Args:
        section: with `alignments`, or `builtin`.

    Returns:
        for each pair its sure links (source word, target word).

    Raises:
        ValueError: the file is missing or not as it should be.
    """
    if section.builtin:
        return [pair.alignment for pair in builtin_corpus(section.builtin)]
    # Line by line, checked as sentences are.
    lines = texts(read_parallel(section.alignments, section.alignments))[0]
    return [sure for sure, _ in parse_pharaoh_lines(lines, str(section.alignments))]


def read_contexts(section: Any) -> list[str]:
    """Reads the context of each pair of one section under a recipe's `data`.

    Args:
        section: with `context`.

    Returns:
        the contexts, some of which may be empty.

    Raises:
        ValueError: the file is missing or not as it should be.
    """
    return texts(read_parallel(section.context, section.context))[0]


def fingerprints(data: Any) -> dict[str, dict[str, Any]]:
    """Describe the files of a recipe's `data`, to notice later if one has changed.

    Args:
        data: whose `files` are its paths by their keys.

    Returns:
        for each file, under its dotted key such as `data.train.source`: its `bytes` and `sha256`.

    Raises:
        OSError: a file cannot be read.
    """
    found = {}
    for key, path in data.files.items():
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            found[key] = {"bytes": file.tell(), "sha256": digest}
    return found


def texts(pairs: tf.data.Dataset) -> tuple[list[str], list[str]]:
    """Returns the sources and the targets of a dataset of pairs, as `str`."""
    sides = zip(*pairs.as_numpy_iterator(), strict=True)
    return tuple([text.decode("utf-8") for text in side] for side in sides)
