"""Fields of requests, and how the command line and the page read them."""

from collections.abc import Iterator
from itertools import groupby, repeat
from pathlib import Path
from typing import Any, ClassVar


class Field:
    """Field of a request.

    Args:
        name: Name in requests and in the signatures of exports.
        option: What to type on the command line, used in error messages.

    Attributes:
        widget: How the page asks for the field: "text", "lines" or "image".
        binary: Whether the values are the contents of files and not texts. A page and an example
            of an export have them in base64.
        from_stdin: Whether the command line can read the field from standard input.
    """

    widget: ClassVar[str] = "text"
    binary: ClassVar[bool] = False
    from_stdin: ClassVar[bool] = False

    def __init__(self, name: str, option: str) -> None:
        self.name, self.option = name, option

    def chunks(self, source: Any, size: int) -> Iterator[list[Any]]:
        """Yield the values of a source, at most `size` at a time, as soon as they come.

        Args:
            source: A file, or None for standard input. For files, a list of files.
            size: Maximum number of values of a chunk.
        """
        raise NotImplementedError

    def values(self, source: Any) -> Iterator[Any]:
        """Return the values of a source one by one, beside those of another field."""
        return (value for chunk in self.chunks(source, 1000) for value in chunk)

    def is_live(self, source: Any) -> bool:
        """Return whether values may come slowly, from a terminal or a pipe."""
        return False


class TextField(Field):
    """Field of texts, one per line of a file."""

    from_stdin = True

    def chunks(self, source: Path | None, size: int) -> Iterator[list[str]]:
        """Yield the lines of a file; see `Field`."""
        from kerasnmt.data.live_lines import read_chunks

        return read_chunks(source, size)

    def is_live(self, source: Path | None) -> bool:
        """Return whether lines may come slowly; see `Field`."""
        from kerasnmt.data.live_lines import is_live

        return is_live(source)


class StoryField(TextField):
    """Field of stories, with a sentence per line, and an empty line between two stories."""

    widget = "lines"
    from_stdin = False

    def values(self, source: Path | None) -> Iterator[str]:
        """Return the stories of a file. A single story is repeated without end."""
        stories = [
            "\n".join(lines)
            for blank, lines in groupby(super().values(source), lambda line: not line.strip())
            if not blank
        ]
        return repeat(*stories) if len(stories) == 1 else iter(stories)


class ImageField(Field):
    """Field of images, each in a PNG or JPEG file."""

    widget = "image"
    binary = True

    def chunks(self, source: list[Path], size: int) -> Iterator[list[bytes]]:
        """Yield the contents of files; see `Field`."""
        for start in range(0, len(source), size):
            yield [path.read_bytes() for path in source[start : start + size]]
