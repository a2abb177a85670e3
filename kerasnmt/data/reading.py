"""Parallel text from files.

Errors raised inside `tf.data` are unreadable, so each file is looked through once in plain Python
before a dataset is made of it. That pass holds one line in memory at a time.
"""

import os

import tensorflow as tf

from kerasnmt.data.lines import checked_lines, is_gzip


def read_parallel(
    source_path: str | os.PathLike, target_path: str | os.PathLike
) -> tf.data.Dataset:
    """Reads two files whose lines belong together.

    Lines end at a line feed and nowhere else; carriage returns, as before the line feeds of
    Windows, are dropped. Blank lines stay, and become empty strings.

    Args:
        source_path: UTF-8 text, one sentence a line; gzip where the name ends in ".gz".
        target_path: The translations, likewise, line by line.

    Returns:
        A dataset of `(source, target)`, both string scalars, of known cardinality.

    Raises:
        ValueError: If a file is missing, empty, damaged or not UTF-8 (the line is named), or the
            two differ in their number of lines.
    """
    source_count = sum(1 for _ in checked_lines(source_path))
    target_count = sum(1 for _ in checked_lines(target_path))
    if source_count != target_count:
        raise ValueError(
            "Expected as many lines of target as of source. "
            f"Received: source_path={str(source_path)!r} with {source_count} lines, "
            f"target_path={str(target_path)!r} with {target_count}. "
            "Line n of one must translate line n of the other."
        )
    pairs = tf.data.Dataset.zip(_dataset(source_path), _dataset(target_path))
    return pairs.apply(tf.data.experimental.assert_cardinality(source_count))


def read_tsv(path: str | os.PathLike) -> tf.data.Dataset:
    """Reads a file of lines `source TAB target`; further columns are ignored.

    Lines end as in `read_parallel`.

    Args:
        path: UTF-8 text; gzip where the name ends in ".gz".

    Returns:
        A dataset of `(source, target)`, both string scalars, of known cardinality.

    Raises:
        ValueError: If the file is missing, empty, damaged or not UTF-8, or a line has no tab (the
            line is named).
    """
    count = 0
    for count, line in enumerate(checked_lines(path), start=1):
        if b"\t" not in line:
            raise ValueError(
                "Expected lines of source TAB target, found one without a tab. "
                f"Received: path={str(path)!r}, line {count}."
            )

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
    """Drops a byte order mark, as `checked_lines` does."""
    return tf.strings.regex_replace(line, "^\ufeff", "")
