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


def model_folders(directory: str | Path) -> list[Path]:
    """Find the models' folders that a folder such as `saved_models` holds.

    Args:
        directory: the parent of models' folders.

    Returns:
        each `<name>` in it that has a version with a SavedModel, sorted.
    """
    versions = [path.parent for path in Path(directory).glob("*/*/saved_model.pb")]
    return sorted({version.parent for version in versions if version.name.isdecimal()})


def read_description(version: Path) -> dict[str, Any]:
    """Read what an export says of itself beside its signatures.

    Args:
        version: the folder of a version.

    Returns:
        `TextModule.description`, and under `examples` a few `texts` with the `translations` that
        the model gave them; empty for a SavedModel that kerasnmt did not write.

    Raises:
        ValueError: the file is there and holds something else.
    """
    path = version / DESCRIPTION
    if not path.exists():
        return {}
    try:
        description = json.loads(path.read_bytes())
        examples = description.get("examples", {"texts": [], "translations": []})
        texts, translations = examples["texts"], examples["translations"]
        strings = all(isinstance(text, str) for text in texts + translations)
        whole = strings and len(texts) == len(translations)
    except (ValueError, AttributeError, KeyError, TypeError):
        whole = False
    if not whole:
        raise ValueError(
            f"{path}: expected what an export says of itself, in JSON, with as many translations "
            "of its examples as texts. Received: something else. Export anew."
        )
    return description


def chosen_version(directory: Path) -> Path:
    """Return the folder itself where it is a version, or the newest version in it."""
    if (directory / "saved_model.pb").exists():
        return directory
    return newest_version(directory) or directory
