"""The file `metadata.json` of a preset, which is read without Keras."""

import json
import math
from pathlib import Path
from typing import Any

from kerasnmt.presets.folders import CONFIG, METADATA
from kerasnmt.version import __version__

FORMAT = 1
TOKENIZER, WEIGHTS = "tokenizer.json", "model.weights.h5"

# Keys of a preset's description, and their types.
ABOUT = {
    "task": str,
    "description": str,
    "demonstration": bool,
    "good_for": str,
    "not_for": str,
    "bias": str,
    "languages": list,
    "license": str,
    "attribution": str,
    "score": str,
    "low_score": float,
    "model": dict,
    "evaluation": str,
    "search": dict,
    "examples": list,
}
# Keys of `metadata.json`, and their types.
_METADATA = {
    "kerasnmt_version": str,
    "keras_version": str,
    "model": str,
    "pipeline_tag": str,
    "inputs": list,
    "parameters": int,
    "weights": str,
    "files": dict,
    "about": dict,
}


def read_metadata(folder: Path) -> dict[str, Any]:
    """Return the content of `metadata.json` in the folder of a preset.

    Raises:
        ValueError: If the folder is not a preset, or has a newer format.
    """
    path = folder / METADATA
    if not path.exists():
        raise ValueError(
            f"Expected the folder of a preset, with a {METADATA}. Received: {folder}"
        )
    try:
        metadata = json.loads(path.read_text(encoding="utf-8"))
        newer = type(metadata["format"]) is int and metadata["format"] > FORMAT
        known = newer or (metadata["format"] == FORMAT and _is_complete(metadata))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        newer = known = False
    if newer:
        raise ValueError(
            f"{folder}: expected a preset with format {FORMAT} or older. Received: format "
            f"{metadata['format']!s:.20}. Install a newer kerasnmt; you have {__version__}."
        )
    if not known:
        raise ValueError(
            f"{path}: expected the metadata of a preset. Received: another file, or a damaged "
            "one. Copy the preset again."
        )
    return metadata


def is_of(value: Any, kind: type) -> bool:
    """Return whether a value of a description has this type. A number must be finite."""
    if kind is not float:
        return isinstance(value, kind)
    return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)


def _is_complete(metadata: dict[str, Any]) -> bool:
    """Return whether metadata has all keys of this format. A later version may add others."""
    about = metadata["about"]
    return (
        all(isinstance(metadata[key], kind) for key, kind in _METADATA.items())
        and metadata["weights"] in ("float32", "float16", "int8")
        and metadata["files"].keys() == {CONFIG, TOKENIZER, WEIGHTS}
        and all(
            isinstance(file["sha256"], str) and type(file["bytes"]) is int and file["bytes"] >= 0
            for file in metadata["files"].values()
        )
        and all(is_of(about[key], kind) for key, kind in ABOUT.items() if key in about)
    )
