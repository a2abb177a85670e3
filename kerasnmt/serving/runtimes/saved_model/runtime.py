"""Runtime of SavedModels."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerasnmt.serving.protocol.meta_graph import MetaGraph, Signature
from kerasnmt.serving.runtimes.runtime import Check, Runtime
from kerasnmt.serving.runtimes.saved_model import checks
from kerasnmt.serving.runtimes.session import Session
from kerasnmt.tasks.served_model import ServedModel


class SavedModelRuntime(Runtime):
    """TensorFlow, in Python and in TF Serving."""

    name = "tensorflow"
    title = "TensorFlow"
    about = "tensorflow writes a SavedModel for TF Serving."
    mark = "saved_model.pb"
    versions = True
    only_translates = False
    splits_texts = True
    session_without = "tensorflow"

    def version(self, export: Path) -> tuple[str, int]:
        """Return the names of the two folders; see `Runtime`."""
        if not export.name.isdecimal():
            raise ValueError(
                "Expected the folder of an export, <name> or <name>/<version>. Received: "
                f"{export}, whose name is not a version."
            )
        return export.parent.name, int(export.name)

    def export(self, model: Any, directory: Path, **options: Any) -> str:
        """Write a version, or the next version; see `export_model` and `export_next_version`."""
        from kerasnmt.serving.runtimes.saved_model.export import (
            export_model,
            export_next_version,
        )

        write = export_model if directory.name.isdecimal() else export_next_version
        return write(model, directory, **options)

    def load(self, export: Path) -> ServedModel:
        """Load a version with TensorFlow in Python; see `Runtime`."""
        import tensorflow as tf

        from kerasnmt.serving.runtimes.saved_model.export import load_export

        try:
            return load_export(export)
        except (tf.errors.OpError, OSError, IndexError) as error:  # TensorFlow's, for bad files
            raise ValueError(
                f"{export}: the export cannot be loaded; `kerasnmt check` shows why: {error}"
            ) from error

    def open(self, export: Path) -> Session:
        """Load a version like TF Serving, without TensorFlow in Python; see `Runtime`."""
        from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession

        try:
            return SavedModelSession(export)
        except RuntimeError as error:
            raise ValueError(
                f"{export}: the export cannot be loaded; `kerasnmt check` shows why: {error}"
            ) from error

    def check_files(self, export: Path) -> None:
        """Check that the graph can be read; see `Runtime`."""
        MetaGraph.from_saved_model(export)

    def declared_signatures(self, export: Path) -> Mapping[str, Signature]:
        """See `Runtime`."""
        return MetaGraph.from_saved_model(export).signatures

    def op_support(self, export: Path) -> dict[str, str]:
        """Look up each op in the libraries of TensorFlow; see `Runtime`."""
        from kerasnmt.serving.runtimes.saved_model.c_api import op_support

        return op_support(export)

    def checks_before_loading(self) -> Mapping[str, Check]:
        """See `Runtime`."""
        return {"ops": checks.check_ops}

    def checks(self) -> Mapping[str, Check]:
        """See `Runtime`."""
        load = functools.cache(checks.load_in_python)
        return {
            "warmup": checks.check_warmup,
            "python": functools.partial(checks.check_python, load),
            "description": functools.partial(checks.check_description, load),
        }
