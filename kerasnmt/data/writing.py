"""Files of sentence pairs, in the formats of `reading`."""

import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from kerasnmt.data.lines import is_gzip


def write_pairs(pairs: Iterable[tuple[bytes, bytes]], *paths: str | os.PathLike) -> None:
    """Write sentence pairs.

    Args:
        pairs: Sources and targets, without tabs and line ends.
        *paths: Path of a file with lines `source TAB target`, or paths of two files whose lines
            translate each other. A file is compressed if its name ends with ".gz".
    """
    with ExitStack() as stack:
        files = [stack.enter_context(opened_to_write(path)) for path in paths]
        for pair in pairs:
            lines = pair if len(files) == 2 else [b"\t".join(pair)]
            for file, line in zip(files, lines, strict=True):
                file.write(line + b"\n")


@contextmanager
def opened_to_write(path: str | os.PathLike) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file to write bytes, which are compressed if its name ends with ".gz"."""
    with open(path, "wb") as file:
        if is_gzip(path):
            # There is no name and no time in the file, so that equal pairs give equal files.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
                yield compressed
        else:
            yield file
