"""Runtime of exports for ONNX Runtime."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from kerasnmt.serving.runtimes.plain_files import DESCRIPTION, TOKENIZERS
from kerasnmt.serving.runtimes.runtime import Runtime
from kerasnmt.tasks.served_model import ServedModel


class OnnxRuntime(Runtime):
    """ONNX Runtime, which runs on many devices and in many languages."""

    name = "onnx"
    title = "ONNX Runtime"
    about = "onnx needs neither TensorFlow nor Keras, and other languages can run it."
    mark = "*.onnx"
    further_files: ClassVar[tuple[str, ...]] = (TOKENIZERS, DESCRIPTION)
    only_translates = False
    splits_texts = True
    needs_tensorflow = False
    fixed_search = False
    own_options: ClassVar[frozenset[str]] = frozenset({"whole"})

    def export(self, model: Any, directory: Path, **options: Any) -> str:
        """Write a folder; see `export_onnx`."""
        from kerasnmt.serving.runtimes.onnx.export import export_onnx

        return export_onnx(model, directory, **options)

    def load(self, export: Path, search: Sequence[str] = ()) -> ServedModel:
        """Load an export; see `kerasnmt.runtime.load`."""
        from kerasnmt.runtime import load_onnx

        return load_onnx(export, search)
