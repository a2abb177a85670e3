"""Runtime of exports for LiteRT."""

from pathlib import Path
from typing import Any

from kerasnmt.serving.runtimes.plain_files import DESCRIPTION, TOKENIZERS
from kerasnmt.serving.runtimes.runtime import Runtime
from kerasnmt.tasks.served_model import ServedModel


class LiteRTRuntime(Runtime):
    """LiteRT, which runs on small devices."""

    name = "litert"
    title = "LiteRT"
    about = "litert runs on small devices, with token ids as inputs and outputs."
    mark = "model.tflite"
    further_files = (TOKENIZERS, DESCRIPTION)
    lacks = frozenset({"n_best", "attention"})

    def export(self, model: Any, directory: Path, **options: Any) -> str:
        """Write a folder; see `export_lite`."""
        from kerasnmt.serving.runtimes.litert.export import export_lite

        return export_lite(model, directory, **options)

    def load(self, export: Path) -> ServedModel:
        """Load an export; see `load_lite`."""
        from kerasnmt.serving.runtimes.litert.export import load_lite

        try:
            model = load_lite(export)
            # LiteRT reads the whole graph at the first search, and writes about it.
            model.function("serving_default")(**{field: ["."] for field in model.fields})
        except (RuntimeError, OSError) as error:
            raise ValueError(f"{export}: the export cannot be loaded: {error}") from error
        return model
