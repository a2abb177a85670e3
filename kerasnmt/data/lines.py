"""Lines of text files, plain or compressed.

One rule holds for all files of data and for the input of the commands: a line ends with a line
feed, and the carriage returns before it belong to the end. Any other carriage return becomes a
space, because tokenizers take it as white space, and an output line must not contain it. See
`without_end`.
"""

import bz2
import codecs
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

# Function of the error of a malformed row, which is left out if the function returns.
Malformed = Callable[[ValueError], None]
# Maximum number of bytes of a line. A file with a longer line is not text, such as /dev/zero.
MOST_BYTES = 10_000_000
# First bytes of compressed files, and what opens them. Files without an opener are refused by name.
_FORMATS: dict[bytes, tuple[str, Any]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\0": ("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("zstd", None),
    b"PK\3\4": ("zip", None),
    b"7z\xbc\xaf\x27\x1c": ("7z", None),
}
# Endings of the names of compressed files that can be read.
COMPRESSED = (".gz", ".bz2", ".xz")
DAMAGES = (OSError, EOFError, zlib.error, lzma.LZMAError)


def is_gzip(path: str | os.PathLike) -> bool:
    """Return whether a file to write is to be compressed, which its name shows."""
    return Path(path).suffix == ".gz"


def without_mark(text: bytes) -> bytes:
    """Remove the byte order mark that some editors write at the start of a file."""
    return text.removeprefix(codecs.BOM_UTF8)


def without_end(line: bytes) -> bytes:
    """Remove the end of a line, and turn any other carriage return into a space."""
    return line.removesuffix(b"\n").rstrip(b"\r").replace(b"\r", b" ")


def compression(start: bytes) -> str | None:
    """Return the name of the compression of data with these first bytes, or None for text."""
    return next((name for magic, (name, _) in _FORMATS.items() if start.startswith(magic)), None)


@contextmanager
def opened(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Open a text file to read bytes. Its content shows whether it is gzip, bzip2 or xz.

    Raises:
        ValueError: If the file is compressed in another way.
        OSError: If the file cannot be opened.
    """
    with open(path, "rb") as file:
        start = file.peek(8)
        for magic, (name, reader) in _FORMATS.items():
            if start.startswith(magic):
                if reader is None:
                    raise ValueError(
                        "Expected text, plain or compressed with gzip, bzip2 or xz. "
                        f"Received: path={str(path)!r}, which is {name}. Unpack the file."
                    )
                with reader(file) as unpacked:
                    yield unpacked
                return
        yield file


def refuse(error: ValueError) -> None:
    """Raise the error of a malformed row, which readers do unless they get another function."""
    raise error


def checked_lines(path: str | os.PathLike, malformed: Malformed = refuse) -> Iterator[bytes]:
    """Yield the lines of a file, and check that there is at least one and that all are UTF-8.

    A byte order mark is removed. One line at a time is in memory.

    Args:
        path: Path of the file, plain or compressed; see `opened`.
        malformed: Function of the error of a line that is not UTF-8. If it returns, the line is
            left out.

    Yields:
        The lines; see `without_end`.

    Raises:
        ValueError: If the file is missing, empty, damaged or not UTF-8, or a line is longer than 10
            MB. The error names the line.
    """
    for number, line in enumerate(raw_lines(path), start=1):
        if is_utf8(path, number, line, malformed):
            yield line


def is_utf8(path: str | os.PathLike, number: int, text: bytes, malformed: Malformed) -> bool:
    """Return whether the text of a line is UTF-8, after the error if it is not."""
    try:
        text.decode()
        if b"\0" not in text:
            return True
        reason = "it has NUL characters, as UTF-16 has"
    except UnicodeDecodeError as error:
        reason = error.reason
    malformed(
        ValueError(
            f"Expected UTF-8 text. Received: path={str(path)!r}, whose line {number} is not "
            f"({reason}). Convert the file, for example with iconv."
        )
    )
    return False


def raw_lines(path: str | os.PathLike) -> Iterator[bytes]:
    """Yield the lines of a file, which need not be UTF-8; see `checked_lines`."""
    number = 0
    try:
        with opened(path) as file:
            while line := file.readline(MOST_BYTES + 1):
                number += 1
                if len(line) > MOST_BYTES:
                    raise ValueError(
                        f"Expected lines of at most {MOST_BYTES:,} bytes. "
                        f"Received: path={str(path)!r}, whose line {number} is longer."
                    )
                yield without_end(without_mark(line) if number == 1 else line)
    except DAMAGES as error:
        raise ValueError(
            "Expected a readable text file, plain or compressed. "
            f"Received: path={str(path)!r} ({getattr(error, 'strerror', None) or error})."
        ) from error
    if number == 0:
        raise ValueError(
            f"Expected a file with at least one line. Received: path={str(path)!r}, which is empty."
        )


def parallel_lines(
    source_path: str | os.PathLike,
    target_path: str | os.PathLike,
    *,
    malformed: Malformed = refuse,
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the pairs of lines of two files.

    Args:
        source_path: Path of the sources; see `checked_lines`.
        target_path: Path of the targets.
        malformed: Function of the error of a line that is not UTF-8. If it returns, the pair is
            left out.

    Yields:
        Source and target.

    Raises:
        ValueError: If `checked_lines` does not accept a file, or the files have different numbers
            of lines.
    """
    paths, counts = (source_path, target_path), [0, 0]
    pairs: Iterator[Any] = zip_longest(*map(raw_lines, paths))
    for number, pair in enumerate(pairs, start=1):
        counts = [count + (line is not None) for count, line in zip(counts, pair, strict=True)]
        if counts == [number, number] and all(
            is_utf8(path, number, line, malformed) for path, line in zip(paths, pair, strict=True)
        ):
            yield pair
    if counts[0] != counts[1]:
        raise ValueError(
            "Expected as many lines of target as of source. "
            f"Received: source_path={str(source_path)!r} with {counts[0]} lines, "
            f"target_path={str(target_path)!r} with {counts[1]}. "
            "Line n of one must translate line n of the other."
        )
