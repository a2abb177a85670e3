"""Lines of text from a file or from standard input."""

import sys
from collections.abc import Iterator
from pathlib import Path


def read_chunks(path: Path | None, size: int) -> Iterator[list[str]]:
    """Read lines as they come, `size` at a time; one at a time from a terminal.

    Lines end with a line feed, before which a carriage return is dropped.

    Args:
        path: a file, or None for standard input.
        size: number of lines in a chunk; the last may have fewer.

    Yields:
        lists of lines, without their ends.

    Raises:
        ValueError: a line is not UTF-8; its number is given. The lines of the chunks before it
            were yielded.
    """
    name = path or "standard input"
    if not path and sys.stdin.isatty():
        size = 1
    with path.open("rb") if path else sys.stdin.buffer as stream:
        chunk: list[str] = []
        for number, line in enumerate(stream, start=1):
            try:
                chunk.append(line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8"))
            except UnicodeDecodeError as error:
                yield chunk
                raise ValueError(
                    f"{name}, line {number}: expected UTF-8. Received: byte "
                    f"0x{line[error.start]:02x} at position {error.start + 1}. Convert the text to "
                    "UTF-8."
                ) from error
            if len(chunk) == size:
                yield chunk
                chunk = []
        if chunk:
            yield chunk
