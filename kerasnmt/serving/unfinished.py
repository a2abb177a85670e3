"""Hidden folders in which exports are written, and what is left of them by killed processes."""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = ".unfinished-"
_LOCK = "lock"


@contextmanager
def unfinished_folder(parent: Path) -> Iterator[Path]:
    """Make a hidden folder that is in use for as long as this process lives.

    A lock on a file in it says so. The kernel lets go of it when the process ends, however it does;
    a process id would not do, for ids are given again, and mean nothing on another machine.

    Args:
        parent: where to make it.

    Yields:
        the folder, which is removed in the end.
    """
    folder, lock = _locked_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove the unfinished folders of processes that are dead."""
    for folder in parent.glob(f"{_PREFIX}*"):
        # One that is in use, or of another user, stays.
        with contextlib.suppress(OSError):
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
        # Until the file is locked the folder looks abandoned, and another process may remove it.
        with contextlib.suppress(FileNotFoundError):
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
    """Lock a file, where the file system knows locks: without, nobody can think it abandoned."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise
