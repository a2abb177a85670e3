"""Folders of presets: the library's own, those of other packages, and those of `KERASNMT_PRESETS`."""

import os
import warnings
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from kerasnmt.nearest_name import nearest_name

CONFIG, METADATA = "config.json", "metadata.json"
SHIPPED = Path(__file__).parent
# In a checkout, the presets of the package `kerasnmt-presets` are here. These are their names.
SECOND = SHIPPED.parents[1] / "zoo" / "presets"
SECOND_NAMES = tuple(
    f"g2p_{language}"
    for language in (
        "adyghe", "armenian", "bulgarian", "dutch", "english", "georgian", "german", "hindi",
        "hungarian", "japanese", "lithuanian", "romanian", "ukrainian",
    )
)  # fmt: skip


def shipped_presets() -> dict[str, Path]:
    """Return the folders of the presets that have a name, as a dict sorted by name.

    They are those of packages with an entry point in the group `kerasnmt.presets`, such as
    `kerasnmt-presets`; the library's own; and those in the folders of the environment variable
    `KERASNMT_PRESETS`. If two have the same name, the later one counts.
    """
    own = filter(None, os.environ.get("KERASNMT_PRESETS", "").split(os.pathsep))
    named = [Path(place).expanduser() for place in own]
    for place in named:
        if not any(place.glob(f"*/{METADATA}")):
            warnings.warn(
                f"expected folders of presets in each folder of KERASNMT_PRESETS. Received: {place}, "
                "which has none",
                stacklevel=3,
            )
    places = [*_installed(), SECOND, SHIPPED, *named]
    found = {path.parent.name: path.parent for one in places for path in one.glob(f"*/{METADATA}")}
    return dict(sorted(found.items()))


@cache
def _installed() -> list[Path]:
    """Return the folders of the packages that an entry point names, and warn of missing ones."""
    folders = []
    for point in entry_points(group="kerasnmt.presets"):
        try:
            spec = find_spec(point.value)
        except (Exception, SystemExit):  # the package around it cannot be imported
            spec = None
        if spec is None or not spec.submodule_search_locations:
            warnings.warn(
                f"expected a Python package of presets in {point.group}. Received: {point.value}, "
                "which is none. Its presets are left out",
                stacklevel=2,
            )
        else:
            folders += [Path(place) for place in spec.submodule_search_locations]
    return folders


def unknown_preset_message(name: str) -> str:
    """Return an error message for a name that no preset has."""
    hint = preset_hint(name) or " `kerasnmt presets` lists the names."
    return f"There is no preset {name}.{hint}"


def preset_hint(name: str) -> str:
    """Return what helps with a name that no preset has, after a space, or nothing."""
    if name in SECOND_NAMES:
        return f" Install {name} with: pip install --upgrade kerasnmt-presets"
    near = nearest_name(name, {*shipped_presets(), *SECOND_NAMES})
    hint = f" Did you mean the preset {near}?" if near else ""
    if name.startswith("g2p_"):
        hint += " The preset g2p reads words of 48 languages, with --language or language=."
    return hint


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
