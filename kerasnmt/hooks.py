"""What models call in the rooms above them, each imported when it is called.

Models run without TensorFlow. Only this module lets their methods on text reach the rooms that need
it, and lets Keras find what a file of a model names.
"""

from typing import Any

import keras


def translator_of(model: keras.Model, **options: Any) -> Any:
    """Return a `kerasnmt.tasks.Translator` around the task of a model, with these options."""
    from kerasnmt.tasks import Translator, task_of

    return Translator(task_of(model, **options))


def holds_texts(values: Any) -> bool:
    """Return whether values are texts or rows of texts; see `kerasnmt.text.columns`."""
    from kerasnmt.text.columns import holds_texts

    return holds_texts(values)


def batches(*args: Any, **options: Any) -> Any:
    """Return batches of pairs of texts; see `kerasnmt.data.batches`."""
    from kerasnmt.data import batches

    return batches(*args, **options)


def export(model: keras.Model, directory: str, **options: Any) -> str:
    """Write an export; see `kerasnmt.serving.export_model`."""
    from kerasnmt.serving import export_model

    return export_model(model, directory, **options)


def register_tokenizers() -> None:
    """Register the tokenizers, so that Keras finds them by name."""
    from kerasnmt.text import register_tokenizers

    register_tokenizers()


def register_optimizers() -> None:
    """Register the optimizers of `kerasnmt.training`, so that Keras finds them by name."""
    from kerasnmt.training import ReplicaAdam  # noqa: F401
