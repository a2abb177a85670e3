"""Parallel text from files.

Errors in `tf.data` are hard to read. So Python checks each file once before a dataset reads it,
with one line in memory at a time.
"""

import os
from collections.abc import Sequence

import tensorflow as tf

from kerasnmt.data.shards import Shards


def read_parallel(
    source_path: str | os.PathLike | Sequence[str | os.PathLike],
    target_path: str | os.PathLike | Sequence[str | os.PathLike],
) -> tf.data.Dataset:
    """Read files whose lines translate each other.

    Lines end only at a line feed. The carriage returns of Windows files are removed. Blank lines
    become empty strings. `Shards` reads several files in another order in each epoch.

    Args:
        source_path: Path of UTF-8 text with one sentence per line, or of gzip if the name ends with
            ".gz". A pattern, such as "train-*.en", or a list of paths stands for several files,
            which are read one after the other.
        target_path: Path of the translations, line by line, in the same format.

    Returns:
        A dataset of `(source, target)` string scalars with known cardinality.

    Raises:
        ValueError: If a file is missing, empty, damaged or not UTF-8, or two files have different
            numbers of lines. The error names a line that is not UTF-8.
    """
    return _checked(Shards(source_path, target_path))


def read_tsv(path: str | os.PathLike | Sequence[str | os.PathLike]) -> tf.data.Dataset:
    """Read files with lines `source TAB target`. Other columns are ignored.

    Lines end as in `read_parallel`. `Shards` reads several files in another order in each epoch.

    Args:
        path: Path of UTF-8 text, or of gzip if the name ends with ".gz". A pattern, such as
            "train-*.tsv", or a list of paths stands for several files, which are read one after the
            other.

    Returns:
        A dataset of `(source, target)` string scalars with known cardinality.

    Raises:
        ValueError: If a file is missing, empty, damaged or not UTF-8, or a line has no tab. The
            error names the line.
    """
    return _checked(Shards(path))


def _checked(shards: Shards) -> tf.data.Dataset:
    return shards.dataset().apply(tf.data.experimental.assert_cardinality(len(shards)))
