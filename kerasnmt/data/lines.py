"""Lines of text files, plain or compressed."""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

# Maximum number of bytes of a line. A file with a longer line is not text, such as /dev/zero.
_MOST_BYTES = 10_000_000


def is_gzip(path: str | os.PathLike) -> bool:
    """Return whether a file is compressed, which its name shows."""
    return Path(path).suffix == ".gz"


def without_mark(text: bytes) -> bytes:
    """Remove the byte order mark that some editors write at the start of a file."""
    return text.removeprefix(codecs.BOM_UTF8)


def checked_lines(path: str | os.PathLike) -> Iterator[bytes]:
    """Yield the lines of a file, and check that there is at least one and that all are UTF-8.

    A byte order mark is removed. One line at a time is in memory.

    Args:
        path: Path of the file, which is gzip if the name ends with ".gz".

    Yields:
        The lines with their ends.

    Raises:
        ValueError: If the file is missing, empty, damaged or not UTF-8, or a line is longer than 10
            MB. The error names the line.
    """
    number = 0
    try:
        with gzip.open(path) if is_gzip(path) else open(path, "rb") as file:
            while line := file.readline(_MOST_BYTES + 1):
                number += 1
                if len(line) > _MOST_BYTES:
                    raise ValueError(
                        f"Expected lines of at most {_MOST_BYTES:,} bytes. "
                        f"Received: path={str(path)!r}, whose line {number} is longer."
                    )
                line.decode("utf-8")
                yield without_mark(line) if number == 1 else line
        if is_gzip(path):
            _check_not_padded(Path(path))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"Expected UTF-8 text. Received: path={str(path)!r}, whose line {number} is not "
            f"({error.reason}). Convert the file, for example with iconv."
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"Expected a readable {'gzip' if is_gzip(path) else 'text'} file. "
            f"Received: path={str(path)!r} ({getattr(error, 'strerror', None) or error})."
        ) from error
    if number == 0:
        raise ValueError(
            f"Expected a file with at least one line. Received: path={str(path)!r}, which is empty."
        )


def parallel_lines(
    source_path: str | os.PathLike, target_path: str | os.PathLike
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the pairs of lines of two files, without line ends.

    Args:
        source_path: Path of the sources; see `checked_lines`.
        target_path: Path of the targets.

    Yields:
        Source and target.

    Raises:
        ValueError: If `checked_lines` does not accept a file, or the files have different numbers
            of lines.
    """
    source_count = target_count = 0
    for source, target in zip_longest(checked_lines(source_path), checked_lines(target_path)):
        source_count += source is not None
        target_count += target is not None
        if source_count == target_count:
            yield _without_end(source), _without_end(target)
    if source_count != target_count:
        raise ValueError(
            "Expected as many lines of target as of source. "
            f"Received: source_path={str(source_path)!r} with {source_count} lines, "
            f"target_path={str(target_path)!r} with {target_count}. "
            "Line n of one must translate line n of the other."
        )


def tsv_lines(path: str | os.PathLike) -> Iterator[tuple[bytes, bytes]]:
    """Yield the first two columns of a file with lines `source TAB target`.

    Args:
        path: Path of the file; see `checked_lines`.

    Yields:
        Source and target.

    Raises:
        ValueError: If `checked_lines` does not accept the file, or a line has no tab. The error
            names the line.
    """
    for number, line in enumerate(checked_lines(path), start=1):
        if b"\t" not in line:
            raise ValueError(
                "Expected lines of source TAB target. "
                f"Received: path={str(path)!r}, whose line {number} has no tab."
            )
        source, target, *_ = _without_end(line).split(b"\t")
        yield source, target


def _without_end(line: bytes) -> bytes:
    """Remove the end of a line and carriage returns, like TensorFlow."""
    return line.removesuffix(b"\n").replace(b"\r", b"")


def _check_not_padded(path: Path) -> None:
    """Check that no zeros follow the compressed data. Python skips them, but TensorFlow fails.

    Valid data ends with at most nine zeros, from the end of the text, a checksum and a size.
    """
    with open(path, "rb") as file:
        file.seek(max(path.stat().st_size - 16, 0))
        end = file.read()
    if len(end) - len(end.rstrip(b"\0")) > 9:
        raise ValueError(
            "Expected a gzip file that ends with its data. "
            f"Received: path={str(path)!r}, which is padded with zeros. Compress the text again."
        )
