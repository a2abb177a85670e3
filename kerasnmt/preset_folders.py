"""Where presets lie: those of the library, one folder each in `kerasnmt/presets`, and others."""

import os
from pathlib import Path

CONFIG, METADATA = "config.json", "metadata.json"
_SHIPPED = Path(__file__).with_name("presets")


def shipped_presets() -> dict[str, Path]:
    """Return the folder of each preset of the library, sorted by name. Nothing is loaded."""
    folders = (path.parent for path in _SHIPPED.glob(f"*/{METADATA}"))
    return {folder.name: folder for folder in sorted(folders)}


def is_preset_folder(folder: str | os.PathLike) -> bool:
    """Return whether a folder has the files of a preset."""
    return all(Path(folder, name).is_file() for name in (CONFIG, METADATA))


def preset_folder(place: str | os.PathLike) -> Path | None:
    """Return the folder of a preset, given as a folder or by its name.

    A folder without the files of a preset does not hide a preset of that name.

    Args:
        place: A folder, or a name of `shipped_presets`.

    Returns:
        The folder; None if there is no preset.
    """
    return Path(place) if is_preset_folder(place) else shipped_presets().get(os.fspath(place))
