"""Attention-based sequence-to-sequence models for Keras 3."""

import sys
from importlib import import_module
from typing import Any

from kerasnmt.version import __version__

# Imported on first use, so `import kerasnmt` needs neither Keras nor TensorFlow.
_ROOMS = (
    "alignment",
    "data",
    "decoding",
    "layers",
    "models",
    "presets",
    "runtime",
    "serving",
    "tasks",
    "text",
    "training",
    "viz",
    "zoo",
)

__all__ = ["__version__", "load_model", *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"kerasnmt.{name}")
    if name == "load_model":
        return import_module("kerasnmt.models").load_model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if sys.modules.get("keras"):
    # This registers the classes for `keras.saving.load_model`.
    import_module("kerasnmt.models")
