"""Models from files."""

import os
from typing import Any

import keras


def load_model(path: str | os.PathLike, **options) -> Any:
    """Load a model of this library.

    `keras.saving.load_model` does the same where `kerasnmt.models` has been imported, so that Keras
    knows the classes of the file.

    Args:
        path: a file that `model.save` wrote, its name ending in ".keras".
        **options: of `keras.saving.load_model`, such as `compile=False`.

    Returns:
        the model, compiled as it was saved.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged, is not a model, or holds a class that Keras does not know.
    """
    if "://" not in os.fspath(path) and not os.path.exists(path):
        raise FileNotFoundError(2, "there is no such file", os.fspath(path))
    try:
        return keras.saving.load_model(path, **options)
    except Exception as error:  # of any kind: what a damaged file holds is called and indexed
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path}: the model cannot be loaded: {type(error).__name__}: {reason:.500}"
        ) from error
