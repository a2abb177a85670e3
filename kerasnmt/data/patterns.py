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
        The paths. Those of a path or a list are returned even if the files are missing.
    """
    if not isinstance(files, str | os.PathLike):
        return [os.fspath(path) for path in files]
    return sorted(glob.glob(os.fspath(files))) if is_pattern(files) else [os.fspath(files)]
