"""The lines of text files, plain or compressed."""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

# No sentence is this long: the file is something else, such as /dev/zero.
_MOST_BYTES = 10_000_000


def is_gzip(path: str | os.PathLike) -> bool:
    """Return whether a file is compressed, by its name."""
    return Path(path).suffix == ".gz"


def without_mark(text: bytes) -> bytes:
    """Remove the byte order mark that some editors write first in a file."""
    return text.removeprefix(codecs.BOM_UTF8)


def checked_lines(path: str | os.PathLike) -> Iterator[bytes]:
    """Yield the lines of a file, and check that each is UTF-8 and that there is at least one.

    A byte order mark is removed.

    Args:
        path: Path of the file; gzip if the name ends in ".gz".

    Yields:
        The lines with their ends; one at a time is in memory.

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


def _check_not_padded(path: Path) -> None:
    """Raise an error for zeros after the compressed data: Python skips them, TensorFlow fails.

    Valid data end with at most nine zeros, from the end of the text, a checksum and a size.
    """
    with open(path, "rb") as file:
        file.seek(max(path.stat().st_size - 16, 0))
        end = file.read()
    if len(end) - len(end.rstrip(b"\0")) > 9:
        raise ValueError(
            "Expected a gzip file that ends with its data. "
            f"Received: path={str(path)!r}, which is padded with zeros. Compress the text again."
        )
