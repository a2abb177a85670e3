"""Hidden folders for unfinished exports, and the removal of abandoned folders."""

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
    """Create a hidden folder, which is in use while this process lives.

    A lock on a file in the folder marks it as in use. The kernel releases the lock when the process
    ends for any reason. The id of the process would not work, because ids are reused, and have no
    meaning on another machine.

    Args:
        parent: Path of the parent folder.

    Yields:
        Path of the hidden folder, which is removed at the end.
    """
    folder, lock = _locked_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove the unfinished folders of dead processes."""
    for folder in parent.glob(f"{_PREFIX}*"):
        # A folder that is in use or belongs to another user stays.
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
        # Until the file is locked, the folder looks abandoned, and another process can remove it.
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
    """Lock a file. If the file system has no locks, no folder counts as abandoned."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise
