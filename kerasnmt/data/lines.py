"""The lines of text files, plain or compressed."""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

# No sentence is this long: the file is of another kind, such as /dev/zero.
_MOST_BYTES = 10_000_000


def is_gzip(path: str | os.PathLike) -> bool:
    """Says whether a file is compressed, by its name."""
    return Path(path).suffix == ".gz"


def without_mark(text: bytes) -> bytes:
    """Drops the byte order mark with which some editors begin a file."""
    return text.removeprefix(codecs.BOM_UTF8)


def checked_lines(path: str | os.PathLike) -> Iterator[bytes]:
    """Yields the lines of a file, having checked that each is UTF-8 and that there is one.

    A byte order mark is dropped.

    Args:
        path: The file; gzip where the name ends in ".gz".

    Yields:
        Lines with their ends, one in memory at a time.

    Raises:
        ValueError: If the file is missing, empty, damaged or not UTF-8, or a line is longer than 10
            MB (the line is named).
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
            f"Expected a {'gzip' if is_gzip(path) else 'text'} file that can be read. "
            f"Received: path={str(path)!r} ({getattr(error, 'strerror', None) or error})."
        ) from error
    if number == 0:
        raise ValueError(
            f"Expected a file with at least one line. Received: path={str(path)!r}, which is empty."
        )


def _check_not_padded(path: Path) -> None:
    """Refuse zeros after the compressed data: Python skips them, TensorFlow fails.

    Valid data end with at most nine zeros: the end of the text, a checksum and a size.
    """
    with open(path, "rb") as file:
        file.seek(max(path.stat().st_size - 16, 0))
        end = file.read()
    if len(end) - len(end.rstrip(b"\0")) > 9:
        raise ValueError(
            "Expected a gzip file that ends with its data. "
            f"Received: path={str(path)!r}, which is padded with zeros. Compress the text again."
        )
