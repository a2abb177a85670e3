"""Folders of presets, including the library's own in `kerasnmt/presets`."""

import os
from pathlib import Path

CONFIG, METADATA = "config.json", "metadata.json"
_SHIPPED = Path(__file__).parent


def shipped_presets() -> dict[str, Path]:
    """Return the folders of the library's presets, as a dict sorted by name."""
    folders = (path.parent for path in _SHIPPED.glob(f"*/{METADATA}"))
    return {folder.name: folder for folder in sorted(folders)}


def is_preset_folder(folder: str | os.PathLike) -> bool:
    """Return whether a folder has the files of a preset."""
    return all(Path(folder, name).is_file() for name in (CONFIG, METADATA))


def preset_folder(preset: str | os.PathLike) -> Path | None:
    """Return the folder of a preset.

    A folder without the files of a preset does not hide a preset with the same name.

    Args:
        preset: Folder, or name of a preset of the library.

    Returns:
        The folder, or None if there is no preset.
    """
    return Path(preset) if is_preset_folder(preset) else shipped_presets().get(os.fspath(preset))
