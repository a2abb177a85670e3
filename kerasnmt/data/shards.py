"""Parallel text in several files."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401
from kerasnmt.data.lines import parallel_lines
from kerasnmt.data.patterns import matching_files
from kerasnmt.data.tables import Column, check_columns, tagged_rows

# Number of shards that are read in turns, and number of pairs that are read from one in a turn.
_TOGETHER = 16
_CHUNK = 1024


class Shards:
    """Sentence pairs in several files, to train on a corpus that does not fit into memory.

    `batches` reads 16 shards in turns, in another order in each epoch, and then shuffles the pairs
    in its buffer. So put the pairs into at least 16 files, and pairs that belong together into
    different files. Only the buffer is in memory.

    ```python
    shards = Shards("corpus-*.tsv.gz")  # or Shards("corpus-*.en", "corpus-*.de")
    tokenizer = SentencePieceTokenizer.train(shards, 8000)
    model.fit(batches(shards, tokenizer, seed=1), epochs=10, shuffle=False)
    ```

    Iteration yields the pairs as `(source, target)` of `str`, and checks them: it raises the
    `ValueError` of `read_tsv` or `read_parallel`. `len` is the number of pairs; the first call
    reads and checks all files.

    Args:
        source: Files with lines `source TAB target`, or of the sources if there is `target`: a
            pattern with `*`, `?` or `[…]`, a path, or a list of paths. Files of a pattern are
            sorted by their names. Each file is UTF-8 text, plain or compressed with gzip, bzip2 or
            xz; see `read_tsv` for CSV and JSON Lines.
        target: Files of the translations, line by line, or None.
        columns: Columns of the sources and of the targets; see `read_tsv`. None if there are two.
        tags: Column of the tags of each source, next to `columns`, or None; see `read_tsv`.

    Attributes:
        files: List with a tuple for each shard: its path, or the paths of source and target.

    Raises:
        ValueError: If no file matches a pattern, the numbers of source and target files differ, or
            `columns` are not two numbers or two names of a file with both sides, or `tags` is not
            a column like them.
    """

    def __init__(
        self,
        source: str | os.PathLike | Sequence[str | os.PathLike],
        target: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
        *,
        columns: Sequence[Column] | None = None,
        tags: Column | None = None,
    ) -> None:
        check_columns(columns, tags)
        if columns is not None and (len(columns) != 2 or target is not None):
            raise ValueError(
                "Expected two columns of a file with both sides. "
                f"Received: columns={columns!r}, target={target!r}."
            )
        self.columns, self.tags = columns, tags
        sides = []
        for name, files in {"source": source, "target": target}.items():
            if files is not None:
                sides.append(matching_files(files))
                if not sides[-1]:
                    raise ValueError(
                        f"Expected at least one file. Received: {name}={str(files)!r}, which "
                        "matches none."
                    )
        if len(sides[0]) != len(sides[-1]):
            raise ValueError(
                "Expected as many files of targets as of sources. "
                f"Received: {len(sides[0])} files of source={str(source)!r}, "
                f"{len(sides[-1])} files of target={str(target)!r}."
            )
        self.files = [*zip(*sides, strict=True)]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for files in self.files:
            for source, target in self._pairs(files):
                yield source.decode("utf-8"), target.decode("utf-8")

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self)

    def part(self, parts: int, part: int) -> "Shards":
        """Return every `parts`-th shard, for one of several processes.

        Args:
            parts: Number of parts, at most the number of shards.
            part: Number of the part, counted from 0.

        Raises:
            ValueError: If there are fewer shards than parts, or `part` is out of range.
        """
        if not 0 <= part < parts:
            raise ValueError(f"Expected a part from 0 to parts - 1. Received: {part=}, {parts=}.")
        if parts > len(self.files):
            raise ValueError(
                f"Expected at least {parts} shards, one for each process. "
                f"Received: {len(self.files)}. Divide the data into more files."
            )
        sides: Any = map(list, zip(*self.files[part::parts], strict=True))
        return Shards(*sides, columns=self.columns, tags=self.tags)

    def dataset(self) -> tf.data.Dataset:
        """Return a dataset of `(source, target)` string scalars, one file after the other."""
        return self.chunks().unbatch()

    def chunks(
        self, shuffled: Callable[[tf.data.Dataset, int], tf.data.Dataset] | None = None
    ) -> tf.data.Dataset:
        """Return a dataset of chunks of up to 1,024 pairs of one shard.

        Args:
            shuffled: Function that shuffles a dataset with a buffer of this size. It is called with
                a dataset of the shards, which are then read in turns. If None, they are read one
                after the other.

        Returns:
            A dataset of `(sources, targets)`, strings `[chunk]`.
        """
        shards = tf.data.Dataset.from_tensor_slices([[*map(os.fspath, one)] for one in self.files])
        if shuffled is None:
            return shards.flat_map(self._chunks)
        return shuffled(shards, len(self.files)).interleave(self._chunks, cycle_length=_TOGETHER)

    def _pairs(self, files: Sequence[str]) -> Iterator[tuple[bytes, ...]]:
        """Return the pairs of a shard."""
        if len(files) == 2:
            return parallel_lines(*files)
        return tagged_rows(files[0], self.columns, self.tags)

    def _chunks(self, files: tf.Tensor) -> tf.data.Dataset:
        """Read a shard, from one file or two, `[1 or 2]`, with the rules of Python."""
        chunk = tf.TensorSpec([None], tf.string)

        def read(files: Any) -> Iterator[tuple]:
            pairs = self._pairs([*map(os.fsdecode, files)])
            return (tuple(zip(*some, strict=True)) for some in _chunked(pairs))

        return tf.data.Dataset.from_generator(read, args=[files], output_signature=(chunk, chunk))


def _chunked(pairs: Iterator[tuple[bytes, ...]]) -> Iterator[tuple]:
    """Return chunks. Turning lines into tensors one by one would take longer than tokenization."""
    return iter(lambda: tuple(islice(pairs, _CHUNK)), ())
