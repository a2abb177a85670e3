"""The folder of an exported version, `<name>/<version>`, as files."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kerasnmt.serving.contracts import described_contract
from kerasnmt.serving.unfinished import remove_abandoned, unfinished_folder

DESCRIPTION = Path("assets.extra", "kerasnmt.json")


def write_version(
    directory: str | Path, write: Callable[[Path], None], number: int | None = None
) -> Path:
    """Write a version whole or not at all.

    It is written into a hidden folder beside its place, brought to the disk, and moved to its place
    in one step: a server that watches `directory` never sees half a version, whenever the process
    is killed or the power fails. What killed processes have left is removed first. Any number of
    processes may write versions at the same time.

    Args:
        directory: the model's folder, `<name>`; made where it does not exist.
        write: is given a folder, and writes the version into it.
        number: of the version; None for the one after the newest, beginning with 1.

    Returns:
        the folder of the version, `<name>/<version>`.

    Raises:
        ValueError: there is something under the given number.
        OSError: it could not be written.
    """
    directory = Path(directory)
    if number is not None:
        refuse_existing(directory / str(number))
    with _written(directory, write) as version:
        place = directory / str(_next_number(directory, 0) if number is None else number)
        while not _moved(version, place):  # Another process has taken it meanwhile.
            if number is None:
                place = directory / str(_next_number(directory, int(place.name)))
            else:
                refuse_existing(place)
    return place


def write_folder(place: str | Path, write: Callable[[Path], None]) -> Path:
    """Write a folder whole or not at all, as `write_version` does, at a given place.

    Args:
        place: where to write; its parents are made where they do not exist.
        write: is given a folder, and writes into it.

    Returns:
        the place.

    Raises:
        ValueError: there is something at the place.
        OSError: it could not be written.
    """
    place = Path(place)
    refuse_existing(place)
    with _written(place.parent, write) as folder:
        if not _moved(folder, place):
            refuse_existing(place)
    return place


def refuse_existing(place: Path) -> None:
    """Raise a `ValueError` where there is something at the place of an export."""
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
        the `description` of `TextModule`, `StoryModule` or `CaptionModule`, and under `examples` a
        few inputs with what the model made of them, as a list for each name of the kind's
        `ExportContract`; empty for a SavedModel that kerasnmt did not write.

    Raises:
        ValueError: the file is there and holds something else.
    """
    path = version / DESCRIPTION
    if not path.exists():
        return {}
    try:
        description = json.loads(path.read_bytes())
        columns = [*description.get("examples", {}).values()]
        known = "examples" not in description or described_contract(description) is not None
        whole = known and len({*map(len, columns)}) <= 1 and all(map(_are_strings, columns))
    except (ValueError, AttributeError, TypeError):
        whole = False
    if not whole:
        raise ValueError(
            f"{path}: expected what an export says of itself, in JSON, with as many outputs of its "
            "examples as inputs. Received: something else. Export anew."
        )
    return description


def chosen_version(directory: Path) -> Path:
    """Return the folder itself where it is a version, or the newest version in it."""
    if (directory / "saved_model.pb").exists():
        return directory
    return newest_version(directory) or directory


@contextmanager
def _written(directory: Path, write: Callable[[Path], None]) -> Iterator[Path]:
    """Give what was written into a hidden folder, to be moved to its place beside that."""
    directory.mkdir(parents=True, exist_ok=True)
    remove_abandoned(directory)
    with unfinished_folder(directory) as unfinished:
        written = unfinished / "version"
        written.mkdir()
        write(written)
        written.chmod(0o755)  # for a server that runs as somebody else
        _sync(written)
        yield written
    _sync(directory, recursive=False)


def _are_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _next_number(directory: Path, least: int) -> int:
    """Return a number above `least` and above those of all versions."""
    newest = newest_version(directory)
    return max(least, int(newest.name) if newest else 0) + 1


def _moved(version: Path, place: Path) -> bool:
    """Move a version to its place, or say that there is something already."""
    if os.path.lexists(place):
        return False
    try:
        # Over a folder that has come between, if it holds anything, and over a file it fails.
        os.rename(version, place)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        raise
    return True


def _sync(path: Path, *, recursive: bool = True) -> None:
    """Bring a folder to the disk: the names in it, and all that it holds."""
    if recursive and path.is_dir():
        for inner in path.iterdir():
            _sync(inner)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
