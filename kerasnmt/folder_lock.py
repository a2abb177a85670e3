"""Lock of a folder that one process writes to."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # on Windows
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextmanager
def locked_folder(folder: Path, does: str) -> Iterator[None]:
    """Lock a folder for other processes, and create it if necessary.

    The operating system releases the lock when the process ends, even if the process is killed.
    On Windows, the folder is not locked.

    Args:
        folder: Path of the folder. A new one is removed again if it is empty at the end.
        does: What the process does in the folder, such as "trains", used in error messages.

    Raises:
        ValueError: If another process has the lock, or `folder` is a file.
    """
    if folder.is_file():
        raise ValueError(
            f"Expected a folder to write to. Received: {folder}, a file. Choose another name."
        )
    is_new = not folder.exists()
    lock = folder / LOCK
    descriptor = _take(lock, does)
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        with suppress(PermissionError):  # on Windows, an open file stays
            lock.unlink(missing_ok=True)
        os.close(descriptor)
        if is_new:
            with suppress(OSError):  # the folder is not empty
                folder.rmdir()


def _take(lock: Path, does: str) -> int:
    """Return the descriptor of the locked file."""
    while True:
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # another process has ended and deleted the empty folder
            continue
        if fcntl is None:
            return descriptor
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            process = os.read(descriptor, 20).decode().strip() or "of another run"
            os.close(descriptor)
            raise ValueError(
                f"Expected a folder in which no other process {does}. Received: {lock.parent}, in "
                f"use by the process {process}. Choose another one, or wait until it ends."
            ) from None
        except OSError:
            warnings.warn(
                f"{lock.parent}: the file system has no locks; use the folder for one process "
                "at a time",
                stacklevel=4,
            )
            return descriptor
        # The process that had the lock before may have deleted the file in the meantime.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                return descriptor
        os.close(descriptor)
