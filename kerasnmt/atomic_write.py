"""Files and folders that are written completely or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[Path]:
    """Yield the path of a temporary file, which is renamed to `path` at the end.

    A reader of `path` sees either the old file or the new file, even after a power failure. After
    an error, the temporary file is removed. The temporary file of a killed process is overwritten
    the next time.

    Args:
        path: File to write or replace. Its folder is created if necessary.

    Yields:
        A path in the same folder, with the same suffixes, because Keras checks the suffix.
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
    """Yield a hidden folder, which is renamed to `path` at the end.

    After an error, the hidden folder is removed.

    Args:
        path: Folder to write. It must not exist. Its parents are created if necessary.

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
        except OSError as error:  # `path` may have been created meanwhile
            if os.path.lexists(path):
                raise ValueError(refusal) from error
            raise
    _to_disk(path.parent)


@contextmanager
def _removed_on_error(folders: list[Path]) -> Iterator[None]:
    """Remove empty folders after an error, from the innermost to the outermost."""
    try:
        yield
    except BaseException:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


def _to_disk(path: Path) -> None:
    """Wait until a file, or the list of files of a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
