"""Pairs of sentences from the files that a command names."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from kerasnmt.cli.options import two_columns
from kerasnmt.cli.records import Format, Record, RecordWriter
from kerasnmt.data.lines import parallel_lines, refuse
from kerasnmt.data.tables import Column, table_format, table_records, table_rows
from kerasnmt.progress_lines import progress_bar

SourceFile = Annotated[
    Path | None, typer.Option("--source", help="File of sources, plain or compressed.")
]
TargetFile = Annotated[Path | None, typer.Option("--target", help="File of their translations.")]
PairFile = Annotated[
    Path | None,
    typer.Option(
        "--pairs",
        help="Instead of both, a file with a source, a tab and a translation per line, or .tsv, "
        ".csv or .jsonl with --columns, whose other fields the output keeps.",
    ),
]


class Pair(NamedTuple):
    """Sentence and its translation, each on one line, and the record that they come from."""

    record: Record
    source: str
    target: str


class PairFiles:
    """Files of pairs, which are checked before the first pair is read.

    Args:
        source: File of sources, or None.
        target: File of their translations, or None.
        pairs: File of pairs instead, or None.
        columns: Value of `--columns` for a file of pairs, or None if it has two columns.
        drops_malformed: Whether malformed rows are left out instead of refused, unless all are.

    Attributes:
        paths: The files.
        columns: The two columns of a file of pairs, or None.
        count: Number of pairs.
        malformed: Number of malformed rows that the last iteration has left out.

    Raises:
        ValueError: If other files are given, a file cannot be read, or two files have different
            numbers of lines. The error names the line.
    """

    def __init__(
        self,
        source: Path | None,
        target: Path | None,
        pairs: Path | None,
        columns: str | None,
        *,
        drops_malformed: bool = False,
    ) -> None:
        self.columns: list[Column] | None = two_columns(columns)
        if pairs is None and self.columns is not None:
            raise ValueError("Expected --pairs FILE with --columns.")
        if pairs is not None and (source is not None or target is not None):
            raise ValueError("Expected --pairs FILE without --source and --target.")
        if pairs is not None:
            self.paths = [pairs]
        elif source is None or target is None:
            raise ValueError("Expected --source FILE with --target FILE, or --pairs FILE.")
        else:
            self.paths = [source, target]
        self._error: ValueError | None = None
        self._malformed = self._drop if drops_malformed else refuse
        self.count = sum(1 for _ in self)
        if not self.count and self._error is not None:
            raise self._error

    def _drop(self, error: ValueError) -> None:
        self._error = self._error or error
        self.malformed += 1

    def __iter__(self) -> Iterator[Pair]:
        self.malformed = 0
        if self.columns is not None:
            rows = table_records(self.paths[0], self.columns, malformed=self._malformed)
            for record, (source, target) in rows:
                yield Pair(record, source, target)
            return
        read: Any = parallel_lines if len(self.paths) == 2 else table_rows
        for pair in read(*self.paths, malformed=self._malformed):
            source, target = (text.decode() for text in pair)
            yield Pair({"source": source, "target": target}, source, target)

    @property
    def named(self) -> bool:
        """Whether the fields of the records have names of their own."""
        return self.columns is not None and isinstance(self.columns[0], str)

    def chunks(self, size: int) -> Iterator[list[Pair]]:
        """Yield the pairs, `size` at a time."""
        pairs = iter(self)
        return iter(lambda: [*islice(pairs, size)], [])

    def answer(
        self,
        console: Console,
        what: str,
        form: Format | None,
        batch_size: int,
        ask: Callable[[list[Pair], slice], Iterable[tuple[str, Record]]],
    ) -> None:
        """Write an answer to each pair to standard output, with a progress bar.

        Args:
            console: Console of the bar.
            what: Name of the work.
            form: Format of the output, or None for that of a table, and text otherwise.
            batch_size: Number of pairs of a batch. 16 batches are sorted by length.
            ask: Function from some pairs, and their place, to the line of each of them in a text,
                and to the fields of its answer.
        """
        if form is None:
            form = Format(table_format(self.paths[0])) if self.columns else Format.TEXT
        by_number = self.columns is not None and isinstance(self.columns[0], int)
        writer, done = RecordWriter(form, heading=not by_number), 0
        with progress_bar(console, what, self.count) as advance:
            for chunk in self.chunks(16 * batch_size):
                answers = [*ask(chunk, slice(done, done + len(chunk)))]
                records = (
                    (one.record, answer) for one, (_, answer) in zip(chunk, answers, strict=True)
                )
                lines = (f"{line}\n" for line, _ in answers)
                sys.stdout.writelines(lines if form is Format.TEXT else writer.lines(records))
                done += len(chunk)
                advance(len(chunk))
