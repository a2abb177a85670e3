"""Functions with which models call the packages above them.

Models run without TensorFlow, but their methods on text need it. So each function imports a package
when it is called. Two functions register classes, so that Keras can load them.
"""

from pathlib import Path
from typing import Any

import keras

from kerasnmt.backends import need_text_backend


def translator_of(model: keras.Model, **options: Any) -> Any:
    """Return a `kerasnmt.tasks.Translator` for a model, with options of its task."""
    need_text_backend()
    from kerasnmt.tasks import Translator, task_of

    return Translator(task_of(model, **options))


def make_shortlist(model: keras.Model, *args: Any) -> Any:
    """Return a shortlist of a model; see `kerasnmt.tasks.shortlists`."""
    need_text_backend()
    from kerasnmt.tasks.shortlists import make_shortlist

    return make_shortlist(model, *args)


def batches(*args: Any, **options: Any) -> Any:
    """Return batches of pairs of texts, and warn if pairs are dropped; see `kerasnmt.data.batches`.

    On JAX, the batches have few shapes, because XLA compiles for each shape.
    """
    need_text_backend()
    from kerasnmt.data.text_batches import counted_batches

    return counted_batches(*args, fill=keras.backend.backend() == "jax", **options)


def split_pairs(pairs: Any, sample_weight: Any, fraction: float) -> tuple[tuple, tuple]:
    """Split off the last pairs for validation; see `kerasnmt.data.text_batches`."""
    need_text_backend()
    from kerasnmt.data.text_batches import split_pairs

    return split_pairs(pairs, sample_weight, fraction)


def export(model: keras.Model, directory: str, **options: Any) -> str:
    """Write an export; see `kerasnmt.serving.export_model`."""
    from kerasnmt.serving import export_model

    return export_model(model, directory, **options)


def save_preset(model: keras.Model, folder: Any, weights: str, about: Any) -> Path:
    """Write a preset; see `kerasnmt.presets`."""
    from kerasnmt.presets.preset import save_preset

    return save_preset(model, folder, weights, about)


def register_tokenizers() -> None:
    """Register the tokenizers, so that Keras finds them by name."""
    from kerasnmt.text import register_tokenizers

    register_tokenizers()


def register_optimizers() -> None:
    """Register the optimizers of `kerasnmt.training`, so that Keras finds them by name."""
    from kerasnmt.training import ReplicaAdam  # noqa: F401
