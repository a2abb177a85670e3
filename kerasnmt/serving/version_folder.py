"""The folder of an exported version, `<name>/<version>`, as files."""

import json
from pathlib import Path
from typing import Any

DESCRIPTION = Path("assets.extra", "kerasnmt.json")


def newest_version(directory: str | Path) -> Path | None:
    """Find the version that a server would choose.

    Args:
        directory: the model's folder, `<name>`, with a folder for each version.

    Returns:
        the folder with the highest number, or None where there is none.
    """
    directory = Path(directory)
    if not directory.is_dir():
        return None
    versions = [path for path in directory.iterdir() if path.is_dir() and path.name.isdecimal()]
    return max(versions, key=lambda path: int(path.name), default=None)


def read_description(version: Path) -> dict[str, Any]:
    """Read what an export says of itself beside its signatures.

    Args:
        version: the folder of a version.

    Returns:
        `TextModule.description`, and under `examples` a few `texts` with the `translations` that
        the model gave them; empty for a SavedModel that kerasnmt did not write.
    """
    path = version / DESCRIPTION
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
