"""Files of texts to translate: plain text, TSV and Parquet."""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from kerasnmt.serving.bulk.export_handler import weight

# A block is a part of a file: it is translated at once, and its translations are kept if the job is
# killed. A worker translates 100 to 1000 rows per second and core.
_BLOCK_WEIGHT = 1 << 17
_BLOCK_ROWS = 1024


class Block(NamedTuple):
    """Consecutive rows of a file.

    Attributes:
        rows: Content of the rows, which the output repeats.
        texts: Dict with a list of texts for each field of the model. A row that cannot be read has
            None.
        broken: Line number of each row that cannot be read, counted from 1, and the reason.
    """

    rows: Any
    texts: dict[str, list[str | None]]
    broken: list[tuple[int, str]]


# Function that writes the translations and scores of a block.
Write = Callable[[Block, Sequence[str | None], Sequence[float | None]], Any]


@dataclass(frozen=True)
class LineFile:
    """UTF-8 text with a row per line, gzip if the name ends with ".gz".

    A plain text is translated to a file of translations. A TSV file keeps its columns, and the
    translation follows them. Both have a score at the end of each line if `scores` is True. A line
    that cannot be read has empty columns.

    A line ends with a line feed, and the carriage returns before it belong to the end. Any other
    carriage return becomes a space, also in the columns that the output keeps.

    Attributes:
        path: Path of the file.
        fields: Fields of the model.
        columns: Names of the columns of a TSV file, or None for a plain text.
        scores: Whether the output has scores.
        max_bytes: Maximum size of a line.
    """

    path: str
    fields: tuple[str, ...]
    columns: tuple[str, ...] | None
    scores: bool
    max_bytes: int

    def blocks(self) -> Iterator[Block]:
        """Yield the rows of the file."""
        lines: list[list[str] | str] = []
        start, total = 1, 0
        for line in self._lines():
            lines.append(line)
            total += weight(line if isinstance(line, list) else "")
            if total >= _BLOCK_WEIGHT:
                yield self._block(lines, start)
                start, lines, total = start + len(lines), [], 0
        if lines:
            yield self._block(lines, start)

    @contextmanager
    def writer(self, file: Any) -> Iterator[Write]:
        """Yield a function that writes blocks to a binary file, which is open."""
        if not self.path.endswith(".gz"):
            yield lambda *block: file.write(self._written(*block))
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield lambda *block: packed.write(self._written(*block))

    def _block(self, lines: list[list[str] | str], start: int) -> Block:
        names = self.columns or ("text",)
        rows = [line if isinstance(line, list) else None for line in lines]
        texts: dict[str, list[str | None]] = {}
        for column, field in ((names.index(field), field) for field in self.fields):
            texts[field] = [None if row is None else row[column] for row in rows]
        broken = [(number, why) for number, why in enumerate(lines, start) if isinstance(why, str)]
        return Block(rows, texts, broken)

    def _lines(self) -> Iterator[list[str] | str]:
        """Yield the columns of each line, or the reason why it cannot be read."""
        with FileSystems.open(self.path, compression_type=CompressionTypes.UNCOMPRESSED) as opened:
            file = gzip.GzipFile(fileobj=opened) if self.path.endswith(".gz") else opened
            mark = codecs.BOM_UTF8  # some editors write it at the start
            most = self.max_bytes + 16  # with the mark and the end of a line
            try:
                while line := file.readline(most):
                    rest = line
                    while rest and not rest.endswith(b"\n"):
                        rest = file.readline(1 << 20)
                    if len(line) < most:  # otherwise it is the start of a line that is too long
                        # The rule of kerasnmt.data.lines, which serving does not import.
                        line = line.removesuffix(b"\n").rstrip(b"\r").replace(b"\r", b" ")
                    yield self._columns(line.removeprefix(mark))
                    mark = b""
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                yield f"damaged gzip data, nothing more can be read: {error}"

    def _columns(self, line: bytes) -> list[str] | str:
        try:
            text = decoded(line, self.max_bytes)
        except ValueError as error:
            return str(error)
        if self.columns is None:
            return [text]
        columns = text.split("\t")
        if len(columns) != len(self.columns):
            return f"{len(columns)} columns instead of {len(self.columns)}"
        return columns

    def _written(
        self, block: Block, translations: Sequence[str | None], scores: Sequence[float | None]
    ) -> bytes:
        columns: list[list[str]] = []
        if self.columns:
            absent = [""] * len(self.columns)
            columns += map(list, zip(*(row or absent for row in block.rows), strict=True))
        columns.append([translation or "" for translation in translations])
        if self.scores:
            columns.append(["" if score is None else f"{score:.6f}" for score in scores])
        lines = map("\t".join, zip(*columns, strict=True))
        return "".join(f"{line}\n" for line in lines).encode()


@dataclass(frozen=True)
class ParquetFile:
    """Parquet file, whose output has all its columns, `translation` and, on request, `score`.

    A row that cannot be read has the translation null.

    Attributes:
        path: Path of the file.
        fields: Fields of the model, which are names of columns.
        columns: Names to use instead of the names in the file, or None.
        scores: Whether the output has scores.
        max_bytes: Maximum size of a text.

    Raises:
        ValueError: If the file is not a Parquet file with these columns.
    """

    path: str
    fields: tuple[str, ...]
    columns: tuple[str, ...] | None
    scores: bool
    max_bytes: int

    def __post_init__(self) -> None:
        try:
            with self._opened() as file:
                schema = pq.read_schema(file)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{self.path}: expected a Parquet file. Received: {error}") from error
        names = self.columns or schema.names
        if len(names) != len(schema.names):
            raise ValueError(
                f"{self.path}: expected {len(names)} columns, {', '.join(names)}. Received: "
                f"{', '.join(schema.names)}."
            )
        for field in self.fields:
            kind = schema.types[names.index(field)] if field in names else None
            if kind not in (pa.string(), pa.large_string()):
                columns = zip(names, schema.types, strict=True)
                raise ValueError(
                    f"{self.path}: expected a column {field} of strings. Received: "
                    f"{', '.join(f'{name} ({one})' for name, one in columns)}."
                )
        if taken := {"translation", "score"} & {*schema.names}:
            raise ValueError(f"{self.path}: expected no column {' or '.join(sorted(taken))}.")

    def blocks(self) -> Iterator[Block]:
        """Yield the rows of the file."""
        start = 1
        with self._opened() as file:
            for rows in pq.ParquetFile(file).iter_batches(_BLOCK_ROWS):
                yield self._block(rows, start)
                start += rows.num_rows

    @contextmanager
    def writer(self, file: Any) -> Iterator[Write]:
        """Yield a function that writes blocks to a binary file, which is open."""
        with self._opened() as source:
            schema = pq.read_schema(source)
        added = [pa.field("translation", pa.string()), pa.field("score", pa.float32())]
        added = added if self.scores else added[:1]
        for field in added:
            schema = schema.append(field)
        with pq.ParquetWriter(file, schema) as parquet:

            def write(block: Block, *answers: Sequence[Any]) -> None:
                new = zip(answers, added, strict=False)
                columns = [pa.array(values, field.type) for values, field in new]
                parquet.write_batch(
                    pa.RecordBatch.from_arrays([*block.rows.columns, *columns], schema=schema)
                )

            yield write

    def _opened(self) -> Any:
        return FileSystems.open(self.path, compression_type=CompressionTypes.UNCOMPRESSED)

    def _block(self, rows: Any, start: int) -> Block:
        names = self.columns or rows.schema.names
        reasons: dict[int, str] = {}
        texts: dict[str, list[str | None]] = {}
        for field in self.fields:
            column = rows.column(names.index(field))
            kind = pa.binary() if column.type == pa.string() else pa.large_binary()
            texts[field] = []
            for row, value in enumerate(column.cast(kind).to_pylist()):
                text = None
                try:
                    text = decoded(value, self.max_bytes)
                except ValueError as error:
                    reasons.setdefault(start + row, str(error))
                texts[field].append(text)
        return Block(rows, texts, sorted(reasons.items()))


def file_format(
    path: str,
    fields: tuple[str, ...],
    columns: tuple[str, ...] | None,
    scores: bool,
    max_bytes: int,
) -> LineFile | ParquetFile:
    """Return the file at a path, in the format that its name shows.

    Args:
        path: Path of the file.
        fields: Fields of the model.
        columns: Names of the columns of TSV and Parquet files, or None.
        scores: Whether the output has scores.
        max_bytes: Maximum size of a text.

    Raises:
        ValueError: If the format has no column for each field.
    """
    if path.endswith(".parquet"):
        return ParquetFile(path, fields, columns, scores, max_bytes)
    if path.removesuffix(".gz").endswith(".tsv"):
        return LineFile(path, fields, columns or fields, scores, max_bytes)
    if fields != ("text",):
        raise ValueError(
            f"Expected .tsv or .parquet, with {' and '.join(fields)}, which this model reads. "
            f"Received: {path}."
        )
    return LineFile(path, fields, None, scores, max_bytes)


def decoded(text: bytes | None, max_bytes: int) -> str:
    """Return a text of a file.

    Raises:
        ValueError: If the text cannot be translated. The message is the reason.
    """
    if text is None:
        raise ValueError("null")
    if len(text) > max_bytes:
        raise ValueError(f"longer than {max_bytes:,} bytes")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        position = f"byte 0x{text[error.start]:02x} at position {error.start + 1}"
        raise ValueError(f"not UTF-8: {position}") from error
