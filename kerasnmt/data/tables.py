"""Columns of TSV, CSV and JSON Lines files."""

import csv
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kerasnmt.columns import without_surrogates
from kerasnmt.data.lines import (
    COMPRESSED,
    MOST_BYTES,
    Malformed,
    checked_lines,
    is_utf8,
    raw_lines,
    refuse,
)
from kerasnmt.text.tags import with_tags

# A column: its number, counted from 1, or its name.
Column = int | str
_JSON = (".jsonl", ".ndjson")
_BREAKS = re.compile("[\t\n\r]+")
_AFTER = " after the heading"
_HOW = (
    "Choose two columns by the names in the first row if it is a heading, columns=['a', 'b'], or "
    "by number, columns=[1, 2]; in a recipe `columns: [a, b]`, on the command line --columns a,b."
)


def table_rows(
    path: str | os.PathLike,
    columns: Sequence[Column] | None = None,
    *,
    malformed: Malformed = refuse,
) -> Iterator[tuple[bytes, ...]]:
    """Yield the chosen columns of each row of a file.

    The name of the file shows its format: `.csv` is comma-separated, with quotes as in RFC 4180;
    `.jsonl` and `.ndjson` have a JSON object per line; any other file has tabs between its columns.
    A tab or a line break inside a text of CSV or JSON becomes a space. An empty line of CSV or JSON
    Lines is no row.

    Args:
        path: Path of the file, plain or compressed; see `checked_lines`.
        columns: Columns to yield, all by number, counted from 1, or all by name. With names, the
            first row of TSV and CSV is a heading, which is not yielded. In JSON Lines, a name is a
            key, or keys with dots between them, such as `translation.en`. If None, a row must have
            exactly two columns.
        malformed: Function of the error of a row that is not UTF-8, or has other columns. If it
            returns, the row is left out. CSV with wrong quotes is always refused.

    Yields:
        The texts of the columns, in the order of `columns`.

    Raises:
        ValueError: If `checked_lines` does not accept the file, there are no rows, a column is
            missing, or there are more than two columns to choose from. The error names the line.
    """
    check_columns(columns)
    ending = _ending(path)
    if ending in _JSON:
        for _, texts in _json_rows(path, columns, malformed):
            yield texts
        return
    rows = _tsv_rows(path, malformed)
    if ending == ".csv":
        rows = ((number, [*map(_text, row)]) for number, row in _csv_rows(path, malformed))
    if columns is None:
        for number, row in _some(path, rows):
            if len(row) == 2:
                yield row[0], row[1]
            else:
                malformed(ValueError(_not_two(path, number, row, ending)))
        return
    after = ""
    if isinstance(columns[0], str):
        _, heading = next(_some(path, rows))
        names = [name.decode().strip() for name in heading]
        indices, after = [_column_index(path, name, names) for name in columns], _AFTER
    else:
        indices = [int(column) - 1 for column in columns]
    most = max(indices)
    for number, row in _some(path, rows, after):
        if len(row) > most:
            yield tuple(row[index] for index in indices)
        else:
            malformed(
                ValueError(
                    f"Expected at least {most + 1} columns. Received: path={str(path)!r}, whose "
                    f"line {number} has {_count(row)}: {_shown(row)}."
                )
            )


def table_records(
    path: str | os.PathLike, columns: Sequence[Column], *, malformed: Malformed = refuse
) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield each row of a file as a record with all its fields, and the texts of chosen columns.

    Args:
        path: Path of the file; see `table_rows`.
        columns: Columns to read; see `table_rows`. With names, the first row of TSV and CSV is a
            heading. With numbers, the fields of a record are called "1", "2" and so on.
        malformed: See `table_rows`.

    Yields:
        The record, a dict of the values as they are in the file, and the texts of the columns, each
        on one line as in `table_rows`.

    Raises:
        ValueError: If `table_rows` does not accept the file, two fields of the heading have the
            same name, or a row has another number of fields than the first one. The error names
            the line.
    """
    check_columns(columns)
    ending = _ending(path)
    if ending in _JSON:
        for record, texts in _json_rows(path, columns, malformed):
            yield record, tuple(text.decode() for text in texts)
        return
    if ending == ".csv":
        rows = _csv_rows(path, malformed)
    else:
        rows = (
            (number, [one.decode() for one in row]) for number, row in _tsv_rows(path, malformed)
        )
    names: list[str] = []
    after = ""
    if isinstance(columns[0], str):
        _, heading = next(_some(path, rows))
        names, after = [name.strip() for name in heading], _AFTER
        for name in (*columns, *names):
            _column_index(path, name, names)
    for number, row in _some(path, rows, after):
        fields = names or [str(one) for one in range(1, len(row) + 1)]
        if len(row) != len(fields) or not {*map(str, columns)} <= {*fields}:
            wanted = max(len(fields), *(one for one in columns if isinstance(one, int)), 0)
            malformed(
                ValueError(
                    f"Expected {wanted} columns. Received: path={str(path)!r}, whose line {number} "
                    f"has {_count(row)}: {_shown([one.encode() for one in row])}."
                )
            )
            continue
        names = fields
        record = dict(zip(names, row, strict=True))
        yield record, tuple(_text(record[str(column)]).decode() for column in columns)


def tagged_rows(
    path: str | os.PathLike, columns: Sequence[Column] | None = None, tags: Column | None = None
) -> Iterator[tuple[bytes, ...]]:
    """Yield the pairs of a file, with their tags in front of the sources.

    Args:
        path: Path of the file; see `table_rows`.
        columns: Columns of the sources and of the targets; see `table_rows`.
        tags: Column of the tags of each source, by number or by name like `columns`, or None; see
            `kerasnmt.text.with_tags`.

    Raises:
        ValueError: If `table_rows` or `with_tags` does not accept a row.
    """
    if tags is None:
        yield from table_rows(path, columns)
        return
    rows = table_rows(path, [*(columns or ()), tags])
    for number, (source, target, text) in enumerate(rows, start=1):
        try:
            yield with_tags(source.decode(), text.decode()).encode(), target
        except ValueError as error:
            raise ValueError(f"{error} They are the tags of pair {number} in {path}.") from error


def check_columns(columns: Any, other: Any = None) -> None:
    """Check that columns, if there are any, are all numbers from 1, or all names.

    Args:
        columns: Columns of the texts, or None.
        other: Another column, such as the column of tags, or None. It needs the columns.

    Raises:
        ValueError: If they are not.
    """
    if columns is None and other is None:
        return
    if columns is None:
        raise ValueError(
            f"Expected columns of the sources and the targets, too. Received: the column {other!r} "
            "alone. " + _HOW
        )
    every = [*columns] if isinstance(columns, list | tuple) else []
    every += [other] if every and other is not None else []
    if every and all(isinstance(one, str) and one for one in every):
        return
    if every and all(type(one) is int and one > 0 for one in every):
        return
    beside = "" if other is None else f", and {other!r} beside them"
    raise ValueError(
        "Expected columns that are all numbers, counted from 1, or all names. "
        f"Received: columns={columns!r}{beside}."
    )


def as_column(text: str) -> Column:
    """Return a column of the command line. Digits are a number."""
    return int(text) if text.isascii() and text.isdecimal() else text


def table_format(path: str | os.PathLike) -> str:
    """Return the format of a file, which its name shows: "csv", "json" or "tsv"."""
    return {".csv": "csv", **dict.fromkeys(_JSON, "json")}.get(_ending(path), "tsv")


def _ending(path: str | os.PathLike) -> str:
    """Return the ending of a file's name, without the ending of its compression, in lower case."""
    path = Path(path)
    return (Path(path.stem) if path.suffix.lower() in COMPRESSED else path).suffix.lower()


def _tsv_rows(path: str | os.PathLike, malformed: Malformed) -> Iterator[tuple[int, list[bytes]]]:
    for number, line in enumerate(checked_lines(path, malformed), start=1):
        yield number, line.split(b"\t")


def _csv_rows(path: str | os.PathLike, malformed: Malformed) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line of each row, and its columns."""
    csv.field_size_limit(MOST_BYTES)
    # A row is UTF-8 if all its lines are.
    lines = (f"{line.decode('utf-8', 'surrogateescape')}\n" for line in raw_lines(path))
    reader = csv.reader(lines, strict=True)
    try:
        for row in filter(None, reader):  # an empty line is no row
            text = ",".join(row).encode("utf-8", "surrogateescape")
            if is_utf8(path, reader.line_num, text, malformed):
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(
            f"Expected CSV. Received: path={str(path)!r}, whose line {reader.line_num} is not "
            f"({error})."
        ) from error


def _json_rows(
    path: str | os.PathLike, columns: Sequence[Column] | None, malformed: Malformed
) -> Iterator[tuple[dict[str, Any], tuple[bytes, ...]]]:
    """Yield the object of each line, and the texts of its columns."""
    lines = enumerate(checked_lines(path, malformed), start=1)
    # As in CSV, an empty line is no row.
    for number, line in _some(path, ((number, line) for number, line in lines if line.strip())):
        try:
            row = _json_object(path, number, line, columns)
        except ValueError as error:
            malformed(error)
        else:
            yield row


def _json_object(
    path: str | os.PathLike, number: int, line: bytes, columns: Sequence[Column] | None
) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    where = f"path={str(path)!r}, whose line {number}"
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            f"Expected a JSON object per line. Received: {where} is not ({error})."
        ) from error
    if not isinstance(row, dict) or columns is None or not isinstance(columns[0], str):
        raise ValueError(
            "Expected JSON objects, and the names of their keys as columns, columns=['a', "
            "'b']; in a recipe `columns: [a, b]`, on the command line --columns a,b. "
            f"Received: {columns=}, {where} is "
            f"{line.decode():.200}"
        )
    try:
        return row, tuple(_field(row, str(name)) for name in columns)
    except (LookupError, TypeError) as error:
        raise ValueError(
            f"Expected text in {' and '.join(map(repr, columns))}. Received: {where} is "
            f"{json.dumps(row, ensure_ascii=False):.200}"
        ) from error


def _field(row: dict[str, Any], name: str) -> bytes:
    """Return the value of a key, or of keys with dots between them."""
    value: Any = row
    for key in [name] if name in row else name.split("."):
        value = value[key]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value).encode()
    raise TypeError


def one_line(text: str) -> str:
    """Return a text whose tabs and line breaks are spaces."""
    return _BREAKS.sub(" ", text)


def _text(text: str) -> bytes:
    return without_surrogates(one_line(text)).encode()


def _column_index(path: str | os.PathLike, name: Column, names: list[str]) -> int:
    if names.count(str(name)) != 1:
        raise ValueError(
            f"Expected one column {name!r} in the heading, the first row. Received: "
            f"path={str(path)!r}, with the columns {', '.join(map(repr, names))}."
        )
    return names.index(str(name))


def _not_two(path: str | os.PathLike, number: int, row: list[bytes], ending: str) -> str:
    between = "a comma" if ending == ".csv" else "a tab"
    if len(row) < 2:
        name = "source,target" if ending == ".csv" else "source TAB target"
        return (
            f"Expected lines of {name}. Received: path={str(path)!r}, whose line {number} has no "
            f"{between.removeprefix('a ')}."
        )
    return (
        f"Expected two columns, with {between} between them. Received: path={str(path)!r}, whose "
        f"line {number} has {_count(row)}: {_shown(row)}. {_HOW}"
    )


def _some(
    path: str | os.PathLike, rows: Iterator[tuple[int, Any]], after: str = ""
) -> Iterator[tuple[int, Any]]:
    """Yield the numbers and the rows of a file, and raise a `ValueError` if there is none."""
    number = 0
    for number, row in rows:
        yield number, row
    if not number:
        raise ValueError(
            f"Expected at least one row{after}. Received: path={str(path)!r}, which has none."
        )


def _count(row: Sequence[Any]) -> str:
    return f"{len(row)} column{'' if len(row) == 1 else 's'}"


def _shown(row: list[bytes]) -> str:
    """Return the columns of a row with their numbers, on one line of bounded length."""
    texts = [text.decode() for text in row[:20]]
    cut = [text if len(text) <= 40 else f"{text[:39]}…" for text in texts]
    shown = [f"{number} {text!r}" for number, text in enumerate(cut, start=1)]
    return ", ".join(shown + ["…"] * (len(row) > 20))
