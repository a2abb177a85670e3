"""Files of exports that are not SavedModels."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerasnmt.runtime.loading import DESCRIPTION as DESCRIPTION
from kerasnmt.runtime.loading import MODEL as MODEL
from kerasnmt.runtime.loading import TOKENIZERS as TOKENIZERS


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


def refuse_half_precision(model: Any, title: str) -> None:
    """Raise a `ValueError` if a model does not compute in float32."""
    if model.compute_dtype != "float32":
        raise ValueError(
            f"Expected a model that computes in float32 for {title}. Received: {model.name} with "
            f"compute_dtype='{model.compute_dtype}'. Pass kerasnmt.models.in_float32(model), which "
            "has the same weights."
        )


def refuse_shortlist(options: Mapping[str, Any], title: str) -> None:
    """Raise a `ValueError` if the options of an export ask for a vocabulary shortlist."""
    if options.get("shortlist"):
        raise ValueError(
            f"Expected shortlist=False for {title}, whose graphs compute the whole output. "
            "Received: shortlist=True. Set it to False, on the command line with --search "
            "shortlist=false."
        )


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON in UTF-8."""
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
