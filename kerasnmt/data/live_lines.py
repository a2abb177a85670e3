"""Lines of text that may come slowly, from a file or from standard input."""

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from kerasnmt.data.lines import DAMAGES, compression, opened, without_end, without_mark


def read_chunks(path: Path | None, size: int) -> Iterator[list[str]]:
    """Read lines, at most `size` at a time.

    The available lines of a pipe or a terminal are yielded without waiting for more. Lines end
    as in training data; see `without_end`. A byte order mark at the start is removed.

    Args:
        path: A file, plain or compressed; see `opened`. None for standard input.
        size: Maximum number of lines of a chunk.

    Yields:
        Lists of lines, without line ends.

    Raises:
        ValueError: If a line is not UTF-8, or has NUL characters, after the earlier lines. The
            error contains the number of the line.
    """
    name, live = path or "standard input", is_live(path)
    number = 0
    with opened(path) if path else nullcontext(sys.stdin.buffer) as stream:
        chunk: list[str] = []
        for lines in _readable(name, _blocks(stream)):
            for line in lines:
                number += 1
                if number == 1:
                    line = without_mark(line)
                if problem := _problem(line):
                    yield chunk
                    if number == 1 and (packed := compression(line)):
                        raise ValueError(
                            f"{name}: expected text. Received: {packed}. Unpack it first."
                        )
                    raise ValueError(
                        f"{name}, line {number}: expected UTF-8. Received: {problem}. Convert the "
                        "text to UTF-8."
                    )
                chunk.append(without_end(line).decode("utf-8"))
                if len(chunk) == size:
                    yield chunk
                    chunk = []
            if chunk and live:
                yield chunk
                chunk = []
        if chunk:
            yield chunk


def lines_of(path: Path) -> Iterator[str]:
    """Return the lines of a file one by one; see `read_chunks`."""
    return (line for chunk in read_chunks(path, 1000) for line in chunk)


def _problem(line: bytes) -> str | None:
    """Return why a line is not text in UTF-8, or None if it is."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
    return "NUL characters, as UTF-16 has" if b"\0" in line else None


def _readable(name: Any, blocks: Iterator[Any]) -> Iterator[Any]:
    """Yield blocks, and name the file if its compressed data are damaged."""
    try:
        yield from blocks
    except DAMAGES as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{name}: expected a readable file, plain or compressed. Received: {error}."
        ) from error


def is_live(path: Path | None) -> bool:
    """Return whether lines may come slowly: from a terminal, a pipe or a socket, not from a file.

    Args:
        path: Path of the lines, or None for standard input.
    """
    try:
        mode = os.stat(sys.stdin.fileno() if path is None else path).st_mode
    except io.UnsupportedOperation:  # standard input is an object of Python
        return True
    return not stat.S_ISREG(mode)


def _blocks(stream: Any) -> Iterator[list[bytes]]:
    """Yield the complete lines of the available data of a stream, then wait for more data."""
    rest = b""
    while data := stream.read1(1 << 16):
        *lines, rest = (rest + data).split(b"\n")
        yield lines
    if rest:
        yield [rest]
