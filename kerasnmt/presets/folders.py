"""Folders of presets: the library's own in `kerasnmt/presets`, and those of `KERASNMT_PRESETS`."""

import os
from pathlib import Path

CONFIG, METADATA = "config.json", "metadata.json"
_SHIPPED = Path(__file__).parent


def shipped_presets() -> dict[str, Path]:
    """Return the folders of the presets that have a name, as a dict sorted by name.

    They are the library's own, and those in the folders of the environment variable
    `KERASNMT_PRESETS`, which may replace one of the library.
    """
    own = os.environ.get("KERASNMT_PRESETS", "").split(os.pathsep)
    places = [_SHIPPED, *map(Path, filter(None, own))]
    found = {path.parent.name: path.parent for one in places for path in one.glob(f"*/{METADATA}")}
    return dict(sorted(found.items()))


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
