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

    Lines end at a line feed. Carriage returns before it, as in Windows files, are removed; any
    other carriage return becomes a space. Blank lines become empty strings. `Shards` reads several
    files in another order in each epoch.

    Args:
        source_path: Path of UTF-8 text with one sentence per line, plain or compressed with gzip,
            bzip2 or xz. A pattern, such as "train-*.en", or a list of paths stands for several
            files, which are read one after the other.
        target_path: Path of the translations, line by line, in the same format.

    Returns:
        A dataset of `(source, target)` string scalars with known cardinality.

    Raises:
        ValueError: If a file is missing, empty, damaged or not UTF-8, or two files have different
            numbers of lines. The error names a line that is not UTF-8.
    """
    return _checked(Shards(source_path, target_path))


def read_tsv(
    path: str | os.PathLike | Sequence[str | os.PathLike],
    columns: Sequence[int | str] | None = None,
    *,
    tags: int | str | None = None,
) -> tf.data.Dataset:
    """Read files with lines `source TAB target`, or two columns of TSV, CSV or JSON Lines.

    The name shows the format: `.csv` has commas and quotes, `.jsonl` or `.ndjson` has a JSON object
    per line, and any other file has tabs. Lines end as in `read_parallel`. A tab or a line break
    inside a text of CSV or JSON becomes a space. `Shards` reads several files in another order in
    each epoch.

    ```python
    read_tsv("train.tsv.gz")  # two columns
    read_tsv("webnlg.tsv", columns=[6, 7])
    read_tsv("articles.csv", columns=["article", "summary"])
    read_tsv("wmt.jsonl.xz", columns=["translation.en", "translation.de"])
    read_tsv("unimorph.tsv", columns=[1, 2], tags=3)  # "walk TAB walked TAB V;PST"
    ```

    Args:
        path: Path of UTF-8 text, plain or compressed with gzip, bzip2 or xz. A pattern, such as
            "train-*.tsv", or a list of paths stands for several files, which are read one after the
            other.
        columns: Columns of the sources and of the targets: two numbers, counted from 1, or two
            names. With names, the first row of each file is a heading. JSON Lines needs names; a
            name with dots stands for nested keys. If None, each row must have two columns.
        tags: Column of the tags of each source, by number or by name like `columns`, such as
            features or a language. They are put in front of the source; see
            `kerasnmt.text.with_tags`. None for no tags.

    Returns:
        A dataset of `(source, target)` string scalars with known cardinality.

    Raises:
        ValueError: If a file is missing, empty, damaged or not UTF-8, a row has other than two
            columns, a chosen column is missing, or a tag is malformed. The error names the line.
    """
    return _checked(Shards(path, columns=columns, tags=tags))


def _checked(shards: Shards) -> tf.data.Dataset:
    return shards.dataset().apply(tf.data.experimental.assert_cardinality(len(shards)))
