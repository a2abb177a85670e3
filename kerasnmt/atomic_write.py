"""Files and folders that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def atomic_folder(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a hidden folder, which is moved to `path` at the end.

    After an error the hidden folder is gone.

    Args:
        path: The folder to write. It must not exist; its parents are made.

    Yields:
        The hidden folder.

    Raises:
        ValueError: If `path` exists.
    """
    path = Path(path)
    refusal = f"Expected a folder that does not exist. Received: {path}. Choose another name."
    if os.path.lexists(path):
        raise ValueError(refusal)
    made = [parent for parent in path.parents if not parent.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        _removed_on_error(made),
        tempfile.TemporaryDirectory(prefix=".writing.", dir=path.parent) as temporary,
    ):
        written = Path(temporary, path.name)
        written.mkdir()
        yield written
        for file in (*written.rglob("*"), written):
            _to_disk(file)
        try:
            os.rename(written, path)
        except OSError as error:  # something has appeared there meanwhile
            if os.path.lexists(path):
                raise ValueError(refusal) from error
            raise
    _to_disk(path.parent)


@contextmanager
def _removed_on_error(folders: list[Path]) -> Iterator[None]:
    """Remove folders after an error, the innermost first, if they are empty."""
    try:
        yield
    except BaseException:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
