"""Loading of the folders that `export_onnx` writes."""

import hashlib
import json
from pathlib import Path

from kerasnmt.runtime.onnx_model import OnnxModel
from kerasnmt.tasks.translator import Translator

DESCRIPTION, TOKENIZERS = "kerasnmt.json", "tokenizers.json"
FORMAT = 1


def load(directory: str | Path, **options) -> Translator:
    """Load a model for ONNX Runtime, without TensorFlow and Keras.

    It needs the extra `onnx`.

    Args:
        directory: Path of a folder that `kerasnmt.serving.export_onnx` wrote.
        **options: Options of `kerasnmt.decoding.SearchOptions` in place of those of the export.

    Returns:
        The model, with the methods `translate`, `n_best`, `score`, `attention` and `align`.

    Raises:
        ValueError: If `export_onnx` did not write the folder, a file is damaged, or an option is
            unknown or out of range.
        ModuleNotFoundError: If a package is not installed.
    """
    return Translator(load_onnx(directory, **options))


def load_onnx(directory: str | Path, **options) -> OnnxModel:
    """Load a model for `Translator`; see `load`."""
    directory = Path(directory)
    try:
        description = json.loads((directory / DESCRIPTION).read_bytes())
        if description["format"] > FORMAT:
            raise ValueError(
                f"its format {description['format']} is newer than {FORMAT}. Update kerasnmt"
            )
        for name, digest in description["files"].items():
            if sha256(directory / name) != digest:
                raise ValueError(f"{name} is damaged. Copy or export it again")
        tokenizers = json.loads((directory / TOKENIZERS).read_bytes())
        return OnnxModel(directory, {**description, **options}, tokenizers)
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise ValueError(f"{directory}: the model cannot be loaded: {error}") from error


def sha256(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
