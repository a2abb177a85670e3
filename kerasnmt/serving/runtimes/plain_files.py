"""Files of exports that are not SavedModels."""

import json
from pathlib import Path
from typing import Any

from kerasnmt.runtime.loading import DESCRIPTION, TOKENIZERS

__all__ = ["DESCRIPTION", "MODEL", "TOKENIZERS", "serialized_tokenizers", "write_json"]

MODEL = "model"  # folder of the model of a site


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
