"""Saving of batches of ids to a file, for training without TensorFlow."""

import os
import zipfile
from collections import defaultdict
from typing import Any

import numpy as np

from kerasnmt.atomic_write import atomic_write


def save_batches(dataset: Any, path: str | os.PathLike) -> None:
    """Write batches to a file, completely or not at all.

    TensorFlow tokenizes, sorts and pads the text once. `SavedBatches` reads the file with only
    NumPy and Keras. One batch at a time is in memory.

    ```python
    save_batches(batches(pairs, tokenizer, seed=1), "train.npz")
    ```

    Args:
        dataset: A finite `tf.data.Dataset` of `(inputs, targets, sample_weight)` from `batches`.
            The file keeps the order of its batches.
        path: Path of the file, an uncompressed NumPy archive, which ends with `.npz`. It contains
            arrays `NAME/NUMBER` for each batch, named after the inputs, `targets` and
            `sample_weight`, and arrays `shapes/NAME`, int64 `[batches, rank]`.

    Raises:
        ValueError: If the path does not end with `.npz`, or the dataset is empty or infinite.
    """
    if not os.fspath(path).endswith(".npz"):
        raise ValueError(f"Expected a file name that ends with .npz. Received: path={str(path)!r}.")
    check_finite(dataset)
    shapes = defaultdict(list)
    with atomic_write(path) as temporary:
        with zipfile.ZipFile(temporary, "w") as archive:
            for number, (inputs, targets, weight) in enumerate(dataset.as_numpy_iterator()):
                arrays = {**inputs, "targets": targets, "sample_weight": weight}
                for name, array in arrays.items():
                    shapes[name].append(array.shape)
                    _write(archive, f"{name}/{number}", array)
            for name, shape in shapes.items():
                _write(archive, f"shapes/{name}", np.array(shape, "int64"))
        if not shapes:
            raise ValueError("Expected at least one batch. Received: an empty dataset.")


def check_finite(dataset: Any) -> None:
    """Raise a `ValueError` if a `tf.data.Dataset` is infinite."""
    if dataset.cardinality() == -1:
        raise ValueError(
            "Expected a finite dataset. Received: an infinite dataset. Remove repeat() and "
            "first_epoch."
        )


def _write(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    with archive.open(f"{name}.npy", "w") as file:
        np.save(file, array)
