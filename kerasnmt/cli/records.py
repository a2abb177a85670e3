"""Records, which are the fields of a row and the answers to it, as lines of several formats."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from kerasnmt.columns import without_surrogates
from kerasnmt.data.tables import one_line

Record = Mapping[str, Any]


class Format(StrEnum):
    """Format of the output."""

    TEXT = "text"
    TSV = "tsv"
    CSV = "csv"
    JSON = "json"


FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="Format of the output. tsv, csv and json (a JSON object per line) have all fields of "
        "the input, and the answer.",
        show_default="the input's with --columns, else text",
    ),
]


class RecordWriter:
    """Turns records into lines of TSV, CSV or JSON Lines.

    In TSV, a tab or a line break inside a text becomes a space. In TSV and CSV, a value that is no
    text is written as JSON, and null as nothing.

    Args:
        form: Format of the lines.
        heading: Whether TSV and CSV begin with the names of the fields.
    """

    def __init__(self, form: Format, heading: bool = True) -> None:
        self._form, self._heading = form, heading
        self._names: list[str] | None = None

    def lines(self, records: Iterable[tuple[Record, Record]]) -> Iterator[str]:
        """Yield the lines of records, with their ends.

        Args:
            records: The fields of each row, and the answer to it, which follows them.

        Raises:
            ValueError: If the input has a field of the answer, or, for TSV and CSV, the records
                have different fields.
        """
        for fields, answer in records:
            if both := [name for name in answer if name in fields]:
                raise ValueError(
                    f"Expected an input without the fields of the answer. Received: the field "
                    f"{both[0]!r}. Rename it."
                )
            yield from map(without_surrogates, self._lines({**fields, **answer}))

    def _lines(self, record: Record) -> Iterator[str]:
        if self._form is Format.JSON:
            yield json.dumps(record, ensure_ascii=False) + "\n"
            return
        if self._names is None:
            self._names = [*record]
            if self._heading:
                yield self._row(self._names)
        if {*record} != {*self._names}:
            raise ValueError(
                f"Expected the same fields in each row for {self._form}, {', '.join(self._names)}. "
                f"Received: {', '.join(record)}. Choose --format json."
            )
        yield self._row(
            one
            if isinstance(one, str)
            else ""
            if one is None
            else json.dumps(one, ensure_ascii=False)
            for one in map(record.get, self._names)
        )

    def _row(self, cells: Iterable[str]) -> str:
        if self._form is Format.TSV:
            return "\t".join(map(one_line, cells)) + "\n"
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(re.sub("\r\n?", "\n", one) for one in cells)
        return line.getvalue()
