"""Patterns of file names."""

import glob
import os
from collections.abc import Sequence


def is_pattern(path: str | os.PathLike) -> bool:
    """Return whether this is a pattern with `*`, `?` or `[…]`, and not the name of a file."""
    return glob.escape(os.fspath(path)) != os.fspath(path) and not os.path.exists(path)


def matching_files(files: str | os.PathLike | Sequence[str | os.PathLike]) -> list[str]:
    """Return the files that a pattern matches, sorted by their names.

    Args:
        files: A pattern, a path, or a list of paths.

    Returns:
        The paths. A path or a list is returned unchanged, even if a file is missing.

    Raises:
        ValueError: If no file matches a pattern, or the list is empty.
    """
    if not isinstance(files, str | os.PathLike):
        found = [*map(os.fspath, files)]
    elif is_pattern(files):
        found = sorted(glob.glob(os.fspath(files)))
    else:
        found = [os.fspath(files)]
    if not found:
        raise ValueError(f"Expected at least one file. Received: {str(files)!r}, which has none.")
    return found
