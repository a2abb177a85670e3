"""Files and folders that are written completely or not at all."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, where no folder counts as abandoned
    fcntl = None  # type: ignore[assignment]

_PREFIX = ".kerasnmt-unfinished-"
_LOCK = "lock"


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

    Raises:
        ValueError: If `path` is a folder.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"Expected a file to write. Received: {path}, a folder. Add a file name.")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".writing.{path.name}")
    try:
        with _named_in_errors(path, temporary):
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a hidden folder, which is renamed to `path` at the end; see `unfinished_folder`.

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
    with unfinished_folder(path.parent) as folder:
        with _named_in_errors(path, folder):
            yield folder
        if not publish(folder, path):
            raise ValueError(refusal)


@contextmanager
def unfinished_folder(parent: Path) -> Iterator[Path]:
    """Create a hidden folder, which is in use while this process lives.

    Hidden folders of killed processes are removed first. A lock on a file beside the folder marks
    it as in use. The kernel releases the lock when the process ends for any reason. The id of the
    process would not work, because ids are reused, and have no meaning on another machine.

    Args:
        parent: Path of the parent folder, which is created if necessary. After an error, it is
            removed again.

    Yields:
        Path of the hidden folder. `publish` moves it to its place; else it is removed at the end.
    """
    created = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    outer, lock = _locked_folder(parent)
    folder = outer / "folder"
    try:
        try:
            folder.mkdir()
            with _named_in_errors(parent, outer):
                yield folder
        finally:
            shutil.rmtree(outer, ignore_errors=True)
            os.close(lock)
    except BaseException:
        with suppress(OSError):  # a folder with content stays
            for one in created:
                one.rmdir()
        raise


@contextmanager
def _named_in_errors(path: Path, unfinished: Path) -> Iterator[None]:
    """Name a path in errors of the system that name the unfinished one, or none."""
    try:
        yield
    except OSError as error:
        if error.strerror and str(error.filename or unfinished).startswith(str(unfinished)):
            error.filename = str(path)
        raise


def publish(folder: Path, path: Path) -> bool:
    """Flush an unfinished folder to the disk, and rename it to `path` in one operation.

    Returns:
        Whether it was renamed. False if `path` exists, which does not change.
    """
    folder.chmod(0o755)  # for a server that runs as another user
    for inner in folder.rglob("*"):
        _sync(inner)
    _sync(folder)
    if os.path.lexists(path):
        return False
    try:
        # This fails if there is now a file, or a folder with content, at the path.
        os.rename(folder, path)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        raise
    _sync(path.parent)
    return True


def _remove_abandoned(parent: Path) -> None:
    """Remove the unfinished folders of dead processes."""
    for folder in parent.glob(f"{_PREFIX}*") if fcntl else ():
        # A folder that is in use or belongs to another user stays.
        with suppress(OSError):
            lock = _open_lock(folder)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    """Return a new folder, and the descriptor of the locked file in it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        # Until the file is locked, the folder looks abandoned, and another process can remove it.
        with suppress(FileNotFoundError):
            lock = _open_lock(folder)
            try:
                _wait_for(lock)
                if os.path.samestat(os.stat(folder / _LOCK), os.fstat(lock)):
                    return folder, lock
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)


def _open_lock(folder: Path) -> int:
    return os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)


def _wait_for(lock: int) -> None:
    """Lock a file. If the file system has no locks, no folder counts as abandoned."""
    if fcntl is None:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise


def _sync(path: Path) -> None:
    """Wait until a file, or the list of files of a folder, is on the disk."""
    if os.name == "nt" and path.is_dir():  # Windows opens no folders
        return
    # Windows flushes only files that are open for writing.
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
