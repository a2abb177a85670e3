"""Requests from the files that a command names."""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice, repeat
from pathlib import Path
from typing import Any

from kerasnmt.cli.lines import is_live, read_chunks
from kerasnmt.cli.quiet import load_tensorflow

# The options of the command line for the fields of a request.
_GIVEN = {
    "text": "texts",
    "context": "--context FILE",
    "image": "--image FILES",
    "story": "--story FILE",
    "question": "questions",
}


def check_fields(read: Sequence[str], given: Sequence[str]) -> None:
    """Check that a model reads the fields that are given.

    Args:
        read: Fields that the model reads.
        given: Fields of the requests.

    Raises:
        ValueError: If the fields differ. The error contains the options of the command line.
    """
    if {*read} != {*given}:
        expected, received = (
            " and ".join(_GIVEN[field] for field in fields) for fields in (read, given)
        )
        raise ValueError(f"Expected {expected}, which this model reads. Received: {received}.")


def text_fields(context: Path | None) -> tuple[str, ...]:
    """Return the fields of requests to translate, with or without a file of contexts."""
    return ("text",) if context is None else ("text", "context")


def read_contexts(path: Path | None, number: int) -> list[str] | None:
    """Read the contexts of a number of texts.

    Args:
        path: File with a context per line, plain or compressed, or None.
        number: Number of texts.

    Returns:
        The contexts, or None without a file.

    Raises:
        ValueError: If the file cannot be read, or has a different number of lines.
    """
    if path is None:
        return None
    load_tensorflow()
    from kerasnmt.data import read_parallel
    from kerasnmt.training import texts

    contexts, _ = texts(read_parallel(path, path))
    if len(contexts) != number:
        raise ValueError(
            f"Expected one line of --context for each of {number:,} texts. Received: {path} with "
            f"{len(contexts):,} lines."
        )
    return contexts


class RequestFiles:
    """Files with the fields of requests.

    Args:
        text: File of texts, one per line, or None for standard input.
        context: File of contexts, one per line for each text, or None.
        image: Image files, or None.
        story: File of stories, with a sentence per line and an empty line between stories, or None.
            If there is only one story, all questions are about this story.
        question: File of questions, one per line, or None for standard input.

    Attributes:
        fields: Names of the fields of the requests.

    Raises:
        ValueError: If the files belong to several kinds of requests.
    """

    def __init__(
        self,
        text: Path | None = None,
        context: Path | None = None,
        image: Sequence[Path] | None = None,
        story: Path | None = None,
        question: Path | None = None,
    ) -> None:
        kinds = [(text, context), (image or None,), (story, question)]
        if sum(any(one is not None for one in kind) for kind in kinds) > 1:
            raise ValueError(
                "Expected options for one kind of request: texts, images, or stories with "
                "questions. Received: options for several kinds."
            )
        if question is not None and story is None:
            raise ValueError("Expected --story FILE with --question. Received: --question alone.")
        self._lines, self._images = question or text, image or ()
        self._beside: Any = context or story
        self.fields: tuple[str, ...]
        if image:
            self.fields = ("image",)
        elif story is not None:
            self.fields = ("question", "story")
        else:
            self.fields = text_fields(context)

    @property
    def live(self) -> bool:
        """Whether the lines may come slowly, from a terminal or a pipe."""
        return not self._images and is_live(self._lines)

    def chunks(self, size: int) -> Iterator[dict[str, list[Any]]]:
        """Yield requests of at most `size` rows, as a dict of a list for each field.

        Raises:
            ValueError: If a file is not UTF-8, or the number of contexts or stories differs from
                the number of texts or questions.
            OSError: If a file cannot be read.
        """
        if self._images:
            for start in range(0, len(self._images), size):
                yield {"image": [one.read_bytes() for one in self._images[start : start + size]]}
            return
        field, *others = self.fields
        columns = {other: _READERS[other](self._beside) for other in others}
        done = 0
        for lines in read_chunks(self._lines, size):
            request = {field: lines}
            for other, column in columns.items():
                request[other] = [*islice(column, len(lines))]
                if len(request[other]) < len(lines):
                    raise ValueError(
                        f"Expected one {other} for each {field}. Received: {self._beside} with "
                        f"{done + len(request[other])}, fewer than there are {field}s."
                    )
            done += len(lines)
            yield request
        for other, column in columns.items():
            if not isinstance(column, repeat) and next(column, None) is not None:
                raise ValueError(
                    f"Expected one {other} for each {field}. Received: {self._beside} with more "
                    f"than {done}, the number of {field}s."
                )


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file."""
    return chain.from_iterable(read_chunks(path, 1000))


def _stories(path: Path) -> Iterator[str]:
    """Return the stories of a file. A single story is repeated without end."""
    stories = [
        "\n".join(group)
        for blank, group in groupby(_lines(path), lambda line: not line.strip())
        if not blank
    ]
    return repeat(*stories) if len(stories) == 1 else iter(stories)


_READERS = {"context": _lines, "story": _stories}
