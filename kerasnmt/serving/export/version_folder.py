"""The folders of exported versions, `<name>/<version>`: write, find and describe them."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.contract.kinds import contract_of
from kerasnmt.serving.export.unfinished_folder import remove_abandoned, unfinished_folder

DESCRIPTION = Path("assets.extra", "kerasnmt.json")


def write_version(
    directory: str | Path, write: Callable[[Path], None], number: int | None = None
) -> Path:
    """Write a version completely or not at all.

    The version is written into a hidden folder beside its place, flushed to the disk, and moved to
    its place in one step. A server that watches `directory` never sees half a version, even if the
    process is killed or the power fails. Folders that killed processes left behind are removed
    first. Any number of processes may write versions at the same time.

    Args:
        directory: The model's folder, `<name>`. It is created if it does not exist.
        write: A function that writes the version into the folder that it receives.
        number: The number of the version; `None` for the one after the newest, starting at 1.

    Returns:
        The folder of the version, `<name>/<version>`.

    Raises:
        ValueError: If the version exists already.
        OSError: If it cannot be written.
    """
    directory = Path(directory)
    if number is not None:
        refuse_existing(directory / str(number))
    with _written(directory, write) as version:
        place = directory / str(_next_number(directory, 0) if number is None else number)
        while not _moved(version, place):  # Another process has taken the number.
            if number is None:
                place = directory / str(_next_number(directory, int(place.name)))
            else:
                refuse_existing(place)
    return place


def write_folder(place: str | Path, write: Callable[[Path], None]) -> Path:
    """Write a folder completely or not at all, as `write_version` does, to a given place.

    Args:
        place: The folder to write. Its parents are created if they do not exist.
        write: A function that writes into the folder that it receives.

    Returns:
        The place.

    Raises:
        ValueError: If the place exists already.
        OSError: If it cannot be written.
    """
    place = Path(place)
    refuse_existing(place)
    with _written(place.parent, write) as folder:
        if not _moved(folder, place):
            refuse_existing(place)
    return place


def refuse_existing(place: Path) -> None:
    """Raise a `ValueError` if the place of an export exists already."""
    if os.path.lexists(place):
        if place.name.isdecimal():
            following = place.with_name(str(_next_number(place.parent, 0)))
            instead = f"to the next version, {following}"
        else:
            instead = "to another directory"
        raise ValueError(
            f"Expected a directory that does not exist. Received: directory='{place}'. "
            f"Export {instead}."
        )


def newest_version(directory: str | Path) -> Path | None:
    """Return the version that a server would choose.

    Args:
        directory: The model's folder, `<name>`, with a folder for each version.

    Returns:
        The folder with the highest number, or `None` if there is no version.
    """
    directory = Path(directory)
    if not directory.is_dir():
        return None
    versions = [path for path in directory.iterdir() if path.is_dir() and path.name.isdecimal()]
    return max(versions, key=lambda path: int(path.name), default=None)


def model_folders(directory: str | Path) -> list[Path]:
    """Return the models' folders in a folder such as `saved_models`.

    Args:
        directory: The parent of the models' folders.

    Returns:
        Each folder `<name>` that has a version with a SavedModel, sorted.
    """
    versions = [path.parent for path in Path(directory).glob("*/*/saved_model.pb")]
    return sorted({version.parent for version in versions if version.name.isdecimal()})


def read_description(version: Path) -> dict[str, Any]:
    """Read the description of an export.

    Args:
        version: The folder of a version.

    Returns:
        The `description` of the `ExportModule`. Its `inputs` give the kind of the export, see
        `contract_of`. The key `examples` holds a few rows: a list for each input, and one for the
        model's answers. Empty for a SavedModel that kerasnmt did not write.

    Raises:
        ValueError: If the file exists but is not such a description.
    """
    path = version / DESCRIPTION
    if not path.exists():
        return {}
    try:
        description = json.loads(path.read_bytes())
        contract = contract_of(description["inputs"])
        whole = contract is not None and _examples_fit(description, contract)
    except (ValueError, KeyError, AttributeError, TypeError):
        whole = False
    if not whole:
        raise ValueError(
            f"{path}: expected the description of an export, in JSON, with one answer for each of "
            "its examples. Received: another file. Export the model again."
        )
    return description


def _examples_fit(description: dict[str, Any], contract: ExportContract) -> bool:
    """Whether there is one answer for each of the examples, or there are no examples."""
    names = {*contract.inputs, contract.answer}
    examples = description.get("examples", {name: [] for name in names})
    whole = examples.keys() == names and len({*map(len, examples.values())}) == 1
    return whole and all(map(_are_strings, examples.values()))


def chosen_version(directory: Path) -> Path:
    """Return the folder itself if it is a version, otherwise the newest version in it."""
    if (directory / "saved_model.pb").exists():
        return directory
    return newest_version(directory) or directory


@contextmanager
def _written(directory: Path, write: Callable[[Path], None]) -> Iterator[Path]:
    """Write into a hidden folder, and yield the result, to be moved to its place."""
    directory.mkdir(parents=True, exist_ok=True)
    remove_abandoned(directory)
    with unfinished_folder(directory) as unfinished:
        written = unfinished / "version"
        written.mkdir()
        write(written)
        written.chmod(0o755)  # for a server that runs as another user
        _sync(written)
        yield written
    _sync(directory, recursive=False)


def _are_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _next_number(directory: Path, least: int) -> int:
    """Return a number above `least` and above all existing versions."""
    newest = newest_version(directory)
    return max(least, int(newest.name) if newest else 0) + 1


def _moved(version: Path, place: Path) -> bool:
    """Move a version to its place. Return False if the place exists already."""
    if os.path.lexists(place):
        return False
    try:
        # This fails if a file, or a folder with content, has appeared at the place meanwhile.
        os.rename(version, place)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        raise
    return True


def _sync(path: Path, *, recursive: bool = True) -> None:
    """Flush a folder to the disk: the names in it and, if recursive, all contents."""
    if recursive and path.is_dir():
        for inner in path.iterdir():
            _sync(inner)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
