"""The presets that come with the library: one folder each in `kerasnmt/presets`."""

from pathlib import Path

_FOLDER = Path(__file__).with_name("presets")


def shipped_presets() -> dict[str, Path]:
    """Return the folder of each preset, sorted by name. Nothing is loaded."""
    folders = (path.parent for path in _FOLDER.glob("*/metadata.json"))
    return {folder.name: folder for folder in sorted(folders)}
