"""Parts of long work, which a second run of the same command finds."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kerasnmt.folder_lock import locked_folder


@contextmanager
def parts_of(output: Path, work: list[Any]) -> Iterator[Path]:
    """Yield the folder of the parts, for this work and this process alone.

    After the work, the folder is removed. After an error, it stays for a second run.

    Args:
        output: File that the parts are joined to. The folder `OUTPUT.parts` is beside it.
        work: What the parts depend on, as values for JSON.

    Raises:
        ValueError: If the folder has parts of other work, or another process uses it.
    """
    parts = output.with_name(f"{output.name}.parts")
    name = parts / hashlib.sha256(json.dumps(work).encode()).hexdigest()
    with locked_folder(parts, f"makes {output.name}"):
        if any(parts.glob("*/*.json")) and not name.exists():
            raise ValueError(
                f"Expected the texts and options of the interrupted work in {parts}. Received: "
                "others. Run the command as it was with the same model, or remove the folder."
            )
        name.mkdir(parents=True, exist_ok=True)
        yield name
        shutil.rmtree(name)
    with suppress(OSError):  # another process uses it
        parts.rmdir()


def model_version(model: str) -> float:
    """Return when the files of a model last changed, or 0 for the name of a preset.

    In a run, only `model.keras` counts. Parts of other work in the folder do not.
    """
    folder = Path(model)
    files: Iterable[Path] = [folder / "model.keras"]
    if not (folder / "model.keras").exists():
        files = (
            path
            for path in folder.rglob("*")
            if path.is_file() and ".parts/" not in path.relative_to(folder).as_posix()
        )
    return max((path.stat().st_mtime for path in files), default=0.0)
