"""The lines of text files, plain or compressed."""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path


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
        path: the file; gzip where the name ends in ".gz".

    Yields:
        Lines with their ends, one in memory at a time.

    Raises:
        ValueError: if the file is missing, empty, damaged or not UTF-8 (the line is named).
    """
    number = 0
    try:
        with gzip.open(path) if is_gzip(path) else open(path, "rb") as file:
            for line in file:
                number += 1
                line.decode("utf-8")
                yield without_mark(line) if number == 1 else line
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
