"""Loading of the folders that `export_onnx` writes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.extras import MissingPackageError
from kerasnmt.runtime.onnx_graphs import ENCODER, STEP
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
            unknown, out of range or not for this model.
        ModuleNotFoundError: If a package is not installed.
    """
    return Translator(load_onnx(directory, **options))


def load_onnx(directory: str | Path, changes: Sequence[str] = (), **options) -> OnnxModel:
    """Load a model for `Translator`.

    Args:
        directory: See `load`.
        changes: Names and values of options, such as `beam_size=8`, from the command line.
        **options: See `load`.

    Raises:
        ValueError: See `load`.
    """
    directory = Path(directory)
    if not (directory / DESCRIPTION).is_file():
        raise ValueError(
            "Expected a folder that kerasnmt.serving.export_onnx wrote. "
            f"Received: {directory}, without {DESCRIPTION}."
        )
    try:
        description = json.loads((directory / DESCRIPTION).read_bytes())
        if description["format"] > FORMAT:
            raise ValueError(
                f"its format {description['format']} is newer than {FORMAT}. Update kerasnmt"
            )
        for name in (ENCODER, STEP, TOKENIZERS):
            if sha256(directory / name) != description["files"][name]:
                raise ValueError(f"{name} is damaged. Copy or export it again")
        written = described_search(description)
        tokenizers = json.loads((directory / TOKENIZERS).read_bytes())
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise ValueError(f"{directory}: the model cannot be loaded: {error}") from error
    keywords = SearchOptions.with_changes({**written, **options}, changes)
    search = SearchOptions.from_keywords(keywords)
    if search.max_length < 2:
        raise ValueError(
            "Expected max_length of at least 2, a token and the end. "
            f"Received: max_length={search.max_length}"
        )
    if search.coverage_penalty and "weights" not in description["graphs"]["records"]:
        raise ValueError(
            "Expected a model with attention, for a coverage penalty. Received: "
            f"coverage_penalty={search.coverage_penalty} with {description['model']}."
        )
    try:
        return OnnxModel(directory, description, tokenizers, search)
    except MissingPackageError:
        raise
    except Exception as error:  # ONNX Runtime has errors of its own
        raise ValueError(f"{directory}: the model cannot be loaded: {error}") from error


def described_search(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `SearchOptions` in a description."""
    return {one.name: description[one.name] for one in fields(SearchOptions)}


def sha256(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
