"""Loading of models from files."""

import os
import zipfile
from typing import Any

import keras


def load_model(path: str | os.PathLike, **options) -> Any:
    """Load a model of this library.

    `keras.saving.load_model` does the same after `import kerasnmt.models`, which registers the
    classes of the file. It does not compare checksums, and may load damaged weights.

    Args:
        path: A file that `model.save` wrote. Its name ends with ".keras".
        **options: Options of `keras.saving.load_model`, such as `compile=False`.

    Returns:
        The model. It is compiled if it was compiled when it was saved.

    Raises:
        FileNotFoundError: If the file does not exist.
        ValueError: If the path is a folder, or the file is damaged, is not a model, or contains a
            class that Keras does not know.
    """
    if "://" not in os.fspath(path) and not os.path.exists(path):
        raise FileNotFoundError(2, "there is no such file", os.fspath(path))
    if os.path.isdir(path):
        raise ValueError(
            f"Expected a file of model.save, such as model.keras. Received: {path}, a folder. Load "
            "the model.keras of a run, an export with kerasnmt.serving.load_export, and a preset "
            "with kerasnmt.zoo.from_preset."
        )
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as file:  # h5py, which jumps within a file, skips the check
                if damaged := file.testzip():
                    raise ValueError(f"wrong checksum of {damaged}")
        return keras.saving.load_model(path, **options)
    except Exception as error:  # a damaged file can raise any error
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path}: the model cannot be loaded: {type(error).__name__}: {reason:.500}"
        ) from error
