"""Files of exports that are not SavedModels."""

import json
from pathlib import Path
from typing import Any

from kerasnmt.runtime.loading import DESCRIPTION, TOKENIZERS

__all__ = ["DESCRIPTION", "MODEL", "TOKENIZERS", "serialized_tokenizers", "write_json"]

MODEL = "model"  # folder of the model of a site


def serialized_tokenizers(model: Any) -> dict[str, Any]:
    """Return the tokenizers of a model: `source`, if it reads text, and `target`, if it differs."""
    import keras  # a loaded export may not need it

    source, target = model.source_tokenizer, model.target_tokenizer
    sides = {"source": source, "target": None if target is source else target}
    return {
        side: keras.saving.serialize_keras_object(tokenizer)
        for side, tokenizer in sides.items()
        if tokenizer is not None
    }


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON in UTF-8."""
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
