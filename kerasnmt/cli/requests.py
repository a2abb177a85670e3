"""Requests from the files that a command names."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from kerasnmt.cli.records import Record
from kerasnmt.data.live_lines import is_live, lines_of
from kerasnmt.data.tables import Column, table_records
from kerasnmt.kinds import field_named, kinds
from kerasnmt.languages import are_languages, closest_tag
from kerasnmt.text.tags import TAG, unknown_tags_message, with_tags, written_tags


def check_fields(read: Sequence[str], received: Sequence[str], columns: str | None = None) -> None:
    """Check that a model reads the fields that are given.

    Args:
        read: Fields that the model reads.
        received: Fields of the requests.
        columns: Value of `--columns`, if the fields are columns of a file.

    Raises:
        ValueError: If the fields differ. The error contains the options of the command line.
    """
    if {*read} != {*received}:
        wanted, found = _options(read), _options(received)
        if columns is not None:
            wanted, found = f"a column of {' and one of '.join(read)}", f"--columns {columns}"
        raise ValueError(f"Expected {wanted}, which this model reads. Received: {found}.")


def _options(names: Sequence[str]) -> str:
    """Return what to type on the command line for some fields."""
    return " and ".join(field.option if (field := field_named(name)) else name for name in names)


def text_fields(context: Any) -> tuple[str, ...]:
    """Return the fields of requests to translate. Without contexts, `context` is None."""
    return ("text",) if context is None else ("text", "context")


def check_reads_tags(option: str, translator: Any) -> None:
    """Check that a model can read tags in front of each text.

    Args:
        option: Option with the tags.
        translator: A `kerasnmt.tasks.Translator` or a task.

    Raises:
        ValueError: If the model reads no texts.
    """
    if "text" not in translator.fields:
        raise ValueError(
            f"Expected texts with {option}. Received: {' and '.join(translator.fields)}."
        )


def checked_tags(tags: Sequence[str] | None, translator: Any) -> list[str]:
    """Return the tags of `--tags` as they stand in front of a text, such as `<V>` and `<PST>`.

    Args:
        tags: Value of the option, or None for no tags.
        translator: A `kerasnmt.tasks.Translator` or a task. Its description says which tags the
            model has, unless the model is on a server or in an older export.

    Raises:
        ValueError: If a tag is malformed or not in the vocabulary of the model; see also
            `check_reads_tags`.
    """
    given = ";".join(tags or [])
    written = written_tags(given)
    if written:
        check_reads_tags("--tags", translator)
    known = translator.description.get("source_tags")
    if known is None:
        if written and are_languages(written) and len(written[0]) < 5:
            warnings.warn(
                f"the model does not say which tags it has, so {''.join(written)} is sent as it "
                "is; the tags of kerasnmt's presets have three letters",
                stacklevel=2,
            )
        return written
    found = {tag: tag if tag in known else closest_tag(tag, known) for tag in written}
    if unknown := [tag for tag, one in found.items() if one is None]:
        raise ValueError(unknown_tags_message("tags", known, f"{given}, with {', '.join(unknown)}"))
    if len({*found.values()}) > 1 and are_languages(known):
        raise ValueError(f"Expected one language for all texts. Received: {given}. Omit one.")
    return [one for tag in written if (one := found[tag])]


def tagged(texts: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Put tags in front of texts. A text with the tag of a language keeps it instead of another."""

    def has_language(text: str) -> bool:
        found = TAG.match(text.lstrip())
        return found is not None and are_languages([found[0]])

    keeps = are_languages(tags)
    return [text if keeps and has_language(text) else with_tags(text, tags) for text in texts]


class Beside:
    """Values of a file beside the rows of requests, one for each row.

    Args:
        name: Name of a value, such as "context" or "line of --prefix".
        path: File of the values.
        values: The values, or None for the lines of the file.
        row: Name of a row.
    """

    def __init__(
        self, name: str, path: Path, values: Iterator[Any] | None = None, row: str = "text"
    ) -> None:
        self._name, self._path, self._row = name, path, row
        self._values = lines_of(path) if values is None else values
        self._rows = 0

    def take(self, number: int) -> list[Any]:
        """Return the values of the next rows.

        Raises:
            ValueError: If fewer are left, or the file is not UTF-8.
            OSError: If the file cannot be read.
        """
        values = [*islice(self._values, number)]
        self._rows += number
        self._check(self._rows - number + len(values))
        return values

    def finish(self) -> None:
        """Check that no values are left after the last row.

        Raises:
            ValueError: If some are left.
        """
        if not isinstance(self._values, repeat):
            self._check(self._rows + sum(1 for _ in self._values))

    def _check(self, count: int) -> None:
        if count != self._rows:
            raise ValueError(
                f"Expected one {self._name} for each {self._row}. Received: {self._path} with "
                f"{count:,} for {self._rows:,} {self._row}s."
            )


def read_lines(option: str, path: Path | None, number: int) -> list[str] | None:
    """Read a line for each of a number of texts, such as their contexts; see `Beside`.

    Args:
        option: Option that names the file.
        path: File, plain or compressed, or None.
        number: Number of texts.

    Returns:
        The lines, or None without a file.
    """
    if path is None:
        return None
    beside = Beside(f"line of {option}", path)
    lines = beside.take(number)
    beside.finish()
    return lines


class RequestFiles:
    """Files with the fields of requests.

    Args:
        sources: Source of each field: a file, a list of files for images, or None. The field that a
            kind of requests reads first is read from standard input if it has no source.

    Attributes:
        fields: Names of the fields of the requests.
        named: Whether the fields have names, as those of a table with a heading row.

    Raises:
        ValueError: If the fields belong to no kind of requests.
    """

    named = True

    def __init__(self, sources: Mapping[str, Any]) -> None:
        names = [name for name, source in sources.items() if source]
        kind = next((kind for kind in kinds() if kind.takes(names)), None)
        if kind is None:
            known = "; ".join(kind.options() for kind in kinds())
            raise ValueError(
                f"Expected the options of one kind of request: {known}. Received: "
                f"{_options(names)}."
            )
        self._sources = {name: sources.get(name) for name in kind.names}
        self._lead = next(field for field in kind.fields if field.name == kind.lead)
        self._others = [field for field in kind.fields if field is not self._lead]
        self.fields = (kind.lead, *(field.name for field in self._others))

    @property
    def live(self) -> bool:
        """Whether the values of the first field may come slowly, from a terminal or a pipe."""
        return self._lead.is_live(self._sources[self._lead.name])

    @property
    def from_stdin(self) -> bool:
        """Whether standard input is read."""
        return self._sources[self._lead.name] is None

    def chunks(self, size: int) -> Iterator[tuple[dict[str, list[Any]], list[Record]]]:
        """Yield requests of at most `size` rows, as a dict of a list for each field.

        Their rows follow as records, with the path of an image in place of its content.

        Raises:
            ValueError: If a file is not UTF-8, or the fields differ in the number of values.
            OSError: If a file cannot be read.
        """
        lead, done = self._lead.name, 0
        others: dict[str, Beside] = {}
        for field in self._others:
            source: Any = self._sources[field.name]
            others[field.name] = Beside(field.name, source, field.values(source), lead)
        for values in self._lead.chunks(self._sources[lead], size):
            request = {lead: values}
            request |= {name: other.take(len(values)) for name, other in others.items()}
            shown = dict(request)
            if self._lead.binary:
                paths: Any = self._sources[lead]
                shown[lead] = [*map(str, paths[done : done + len(values)])]
            rows = zip(*shown.values(), strict=True)
            done += len(values)
            yield request, [dict(zip(shown, row, strict=True)) for row in rows]
        for other in others.values():
            other.finish()


class RequestTable:
    """File of records with the texts of requests in some fields.

    Args:
        path: Path of a TSV, CSV or JSON Lines file; see `kerasnmt.data.tables.table_records`.
        columns: Column of the texts, and of their contexts for a model that reads contexts.

    Attributes:
        fields: Names of the fields of the requests.
        named: Whether the columns of the file have names.

    Raises:
        ValueError: If the first row has no such columns.
    """

    from_stdin = False

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._path, self._columns = path, columns
        self.named = isinstance(columns[0], str)
        self.fields = ("text", "context")[: len(columns)]
        if not self.live:  # a wrong column is refused before a model is loaded
            next(table_records(path, columns))

    @property
    def live(self) -> bool:
        """Whether the rows may come slowly, from a pipe."""
        return is_live(self._path)

    def chunks(self, size: int) -> Iterator[tuple[dict[str, list[Any]], list[Record]]]:
        """Yield requests of at most `size` rows, and the records of their rows.

        Raises:
            ValueError: If a row cannot be read, after the earlier rows. The error names the line.
        """
        rows: list[tuple[Record, tuple[str, ...]]] = []
        try:
            for row in table_records(self._path, self._columns):
                rows.append(row)
                if len(rows) == size:
                    yield self._request(rows)
                    rows = []
        except ValueError:
            if rows:
                yield self._request(rows)
            raise
        if rows:
            yield self._request(rows)

    def _request(
        self, rows: list[tuple[Record, tuple[str, ...]]]
    ) -> tuple[dict[str, list[Any]], list[Record]]:
        records, texts = zip(*rows, strict=True)
        columns = map(list, zip(*texts, strict=True))
        return dict(zip(self.fields, columns, strict=True)), [*records]


def with_lines(
    chunks: Iterator[tuple[dict[str, list[Any]], list[Record]]],
    files: Mapping[str, tuple[Path | None, Callable[[Path], Iterator[str]]]],
) -> Iterator[tuple[dict[str, list[Any]], list[Record]]]:
    """Add a field of lines to requests for each file of an option, such as `prefix`; see `Beside`.

    Args:
        chunks: Requests and their records.
        files: File of each option, or None, and the function that reads its lines.
    """
    lines = {
        name: Beside(f"line of --{name}", path, read(path))
        for name, (path, read) in files.items()
        if path
    }
    for request, records in chunks:
        added = {name: beside.take(len(records)) for name, beside in lines.items()}
        yield request | added, records
    for beside in lines.values():
        beside.finish()
