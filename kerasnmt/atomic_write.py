"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[Path]:
    """Gives the path of a temporary file, which takes the name `path` in the end.

    A reader of `path` sees the old file or the new one, whatever happens meanwhile, a power cut
    included. After an error the temporary file is gone. One that a killed process left is
    overwritten the next time.

    Args:
        path: the file to be written or replaced. Its folder is made where it does not exist.

    Yields:
        a path in the same folder, with the same suffixes, for Keras looks at these.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".writing.{path.name}")
    try:
        yield temporary
        _to_disk(temporary)
        os.replace(temporary, path)
        _to_disk(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
