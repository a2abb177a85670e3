"""Folders of exported versions, `<name>/<version>`."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kerasnmt.atomic_write import publish, unfinished_folder
from kerasnmt.kinds import kind_of
from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.runtimes import plain_files

DESCRIPTION = Path("assets.extra", plain_files.DESCRIPTION)


def write_version(
    directory: str | Path, write: Callable[[Path], None], number: int | None = None
) -> Path:
    """Write a version, completely or not at all.

    The version is written to a hidden folder in `directory`, flushed to the disk, and moved in one
    operation. A server that watches `directory` never sees an incomplete version, even if the
    process is killed or the power fails. Hidden folders of killed processes are removed first.
    Several processes can write versions at the same time.

    Args:
        directory: Path of the model's folder, `<name>`. It is created if necessary.
        write: Function that writes the version to the folder that it gets.
        number: Number of the version, or None for the next one, starting with 1.

    Returns:
        Path of the version, `<name>/<version>`.

    Raises:
        ValueError: If the version already exists.
        OSError: If the version cannot be written.
    """
    directory = Path(directory)
    if number is not None:
        refuse_existing(directory / str(number))
    with unfinished_folder(directory) as folder:
        write(folder)
        version = directory / str(_next_number(directory, 0) if number is None else number)
        while not publish(folder, version):  # another process has taken the number
            if number is None:
                version = directory / str(_next_number(directory, int(version.name)))
            else:
                refuse_existing(version)
    return version


def refuse_existing(path: Path) -> None:
    """Raise a `ValueError` if the folder of an export already exists."""
    if os.path.lexists(path):
        if path.name.isdecimal():
            following = path.with_name(str(_next_number(path.parent, 0)))
            instead = f"to the next version, {following}"
        else:
            instead = "to another directory"
        raise ValueError(
            f"Expected a directory that does not exist. Received: directory='{path}'. "
            f"Export {instead}."
        )


def newest_version(directory: str | Path) -> Path | None:
    """Return the version that a server would choose.

    Args:
        directory: Path of the model's folder, `<name>`, with a folder for each version.

    Returns:
        Path of the folder with the highest number, or None if there is no version.
    """
    directory = Path(directory)
    if not directory.is_dir():
        return None
    versions = [path for path in directory.iterdir() if path.is_dir() and path.name.isdecimal()]
    return max(versions, key=lambda path: int(path.name), default=None)


def read_description(version: Path) -> dict[str, Any]:
    """Read the description of an export.

    Args:
        version: Path of the version, or of another export with a `kerasnmt.json`, which a site has
            in the folder of its model.

    Returns:
        The `description` of the `ExportModule`, or an empty dict if kerasnmt did not write the
        SavedModel. Its `inputs` determine the kind of the export; see `kind_of`. Its `examples`
        are a dict with a list for each input, and a list of the model's answers.

    Raises:
        ValueError: If the file exists but is not a description.
    """
    folders = (version / DESCRIPTION.parent, version, version / plain_files.MODEL)
    paths = [folder / DESCRIPTION.name for folder in folders]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        return {}
    try:
        description = json.loads(path.read_bytes())
        valid = _examples_fit(description, kind_of(description["inputs"]).contract)
    except (ValueError, KeyError, AttributeError, TypeError):
        valid = False
    if not valid:
        raise ValueError(
            f"{path}: expected the description of an export in JSON, with one answer for each of "
            "its examples. Received: another file. Export the model again."
        )
    return description


def _examples_fit(description: dict[str, Any], contract: ExportContract) -> bool:
    """Return whether there is one answer for each example, or there are no examples."""
    names = {*contract.inputs, contract.answer}
    examples = description.get("examples", {name: [] for name in names})
    complete = examples.keys() == names and len({*map(len, examples.values())}) == 1
    return complete and all(map(_are_strings, examples.values()))


def find_export(directory: str | Path) -> tuple[Path, dict[str, Any]]:
    """Return the version of an export, and its description.

    Args:
        directory: Path of a version, `<name>/<version>`, or `<name>` for its newest version.

    Raises:
        ValueError: If there is no export.
    """
    for version in (Path(directory), newest_version(directory)):
        if version is not None and (version / DESCRIPTION).exists():
            return version, read_description(version)
    raise ValueError(
        f"Expected an export of kerasnmt, <name>/<version> with {DESCRIPTION}. Received: "
        f"directory='{directory}'. Write one with model.export or `kerasnmt export`."
    )


def _are_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _next_number(directory: Path, least: int) -> int:
    """Return a number above `least` and above all existing versions."""
    newest = newest_version(directory)
    return max(least, int(newest.name) if newest else 0) + 1
