"""Parallel text from files.

Errors in `tf.data` are hard to read. So Python checks each file once before a dataset reads it,
with one line in memory at a time.
"""

import os

import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401
from kerasnmt.data.lines import is_gzip, parallel_lines, tsv_lines


def read_parallel(
    source_path: str | os.PathLike, target_path: str | os.PathLike
) -> tf.data.Dataset:
    """Read two files whose lines translate each other.

    Lines end only at a line feed. The carriage returns of Windows files are removed. Blank lines
    become empty strings.

    Args:
        source_path: Path of UTF-8 text with one sentence per line, or of gzip if the name ends with
            ".gz".
        target_path: Path of the translations, line by line, in the same format.

    Returns:
        A dataset of `(source, target)` string scalars with known cardinality.

    Raises:
        ValueError: If a file is missing, empty, damaged or not UTF-8, or the files have different
            numbers of lines. The error names a line that is not UTF-8.
    """
    count = sum(1 for _ in parallel_lines(source_path, target_path))
    pairs = tf.data.Dataset.zip(_dataset(source_path), _dataset(target_path))
    return pairs.apply(tf.data.experimental.assert_cardinality(count))


def read_tsv(path: str | os.PathLike) -> tf.data.Dataset:
    """Read a file with lines `source TAB target`. Other columns are ignored.

    Lines end as in `read_parallel`.

    Args:
        path: Path of UTF-8 text, or of gzip if the name ends with ".gz".

    Returns:
        A dataset of `(source, target)` string scalars with known cardinality.

    Raises:
        ValueError: If the file is missing, empty, damaged or not UTF-8, or a line has no tab. The
            error names the line.
    """
    count = sum(1 for _ in tsv_lines(path))

    def split(line: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        columns = tf.strings.split(line, "\t")
        return columns[0], columns[1]

    pairs = _dataset(path).map(split, num_parallel_calls=tf.data.AUTOTUNE)
    return pairs.apply(tf.data.experimental.assert_cardinality(count))


def _dataset(path: str | os.PathLike) -> tf.data.Dataset:
    compression = "GZIP" if is_gzip(path) else None
    lines = tf.data.TextLineDataset(os.fspath(path), compression_type=compression)
    return lines.take(1).map(_without_mark).concatenate(lines.skip(1))


def _without_mark(line: tf.Tensor) -> tf.Tensor:
    """Remove a byte order mark, like `checked_lines`."""
    return tf.strings.regex_replace(line, "^\ufeff", "")
