"""Files of exports that are not SavedModels."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOKENIZERS, DESCRIPTION = "tokenizers.json", "kerasnmt.json"


def serialized_tokenizers(model: Any) -> dict[str, Any]:
    """Return the tokenizers of a model, `source` and, if it is another one, `target`."""
    import keras  # a loaded export may not need it

    tokenizers = {"source": keras.saving.serialize_keras_object(model.source_tokenizer)}
    if model.target_tokenizer is not model.source_tokenizer:
        tokenizers["target"] = keras.saving.serialize_keras_object(model.target_tokenizer)
    return tokenizers


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON in UTF-8."""
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def need_files(directory: Path, names: Sequence[str], writer: str) -> None:
    """Check that a folder has the files of an export.

    Raises:
        ValueError: If files are missing. The error names the function that writes such folders.
    """
    if missing := [name for name in names if not (directory / name).exists()]:
        raise ValueError(
            f"Expected a folder that {writer} wrote. Received: directory='{directory}', without "
            f"{' and '.join(missing)}."
        )
