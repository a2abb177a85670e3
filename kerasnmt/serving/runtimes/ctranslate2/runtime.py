"""Runtime of exports for CTranslate2."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerasnmt.serving.runtimes.plain_files import DESCRIPTION, TOKENIZERS
from kerasnmt.serving.runtimes.runtime import Runtime
from kerasnmt.tasks.served_model import ServedModel

# With int8 products, a batch rounds other numbers than a single text.
_INT8_TOLERANCE = 1e-2


class CTranslate2Runtime(Runtime):
    """CTranslate2, which runs Transformers."""

    name = "ctranslate2"
    title = "CTranslate2"
    about = "ctranslate2 is the fastest on a CPU, for Transformers, with float32 or int8 weights."
    mark = "model.bin"
    further_files = (TOKENIZERS, DESCRIPTION)
    needs_tensorflow = False

    def export(self, model: Any, directory: Path, **options: Any) -> str:
        """Write a folder; see `export_ctranslate2`."""
        from kerasnmt.serving.runtimes.ctranslate2.export import export_ctranslate2

        return export_ctranslate2(model, directory, **options)

    def load(self, export: Path) -> ServedModel:
        """Load an export; see `load_ctranslate2`."""
        from kerasnmt.serving.runtimes.ctranslate2.model import load_ctranslate2

        return load_ctranslate2(export)

    def tolerance(self, description: Mapping[str, Any]) -> float:
        """See `Runtime`."""
        is_int8 = description["weights"] == "int8"
        return _INT8_TOLERANCE if is_int8 else super().tolerance(description)
