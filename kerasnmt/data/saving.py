"""Batches of ids as arrays in a file, for training where there is no TensorFlow."""

import os
import zipfile
from collections import defaultdict
from typing import Any

import numpy as np

from kerasnmt.atomic_write import atomic_write


def save_batches(dataset: Any, path: str | os.PathLike) -> None:
    """Writes batches to a file as they come, whole or not at all.

    The text is tokenized, sorted and padded here once, with TensorFlow; `SavedBatches` reads the
    file with NumPy and Keras alone. Only one batch at a time is in memory.

    ```python
    save_batches(batches(pairs, tokenizer, seed=1), "train.npz")
    ```

    Args:
        dataset: A `tf.data.Dataset` of `(inputs, targets, sample_weight)`, as `batches` gives, with
            all of its inputs. What was shuffled is written as it was shuffled.
        path: Of the file, which ends in `.npz`: an uncompressed archive of NumPy's with the arrays
            `NAME/NUMBER`, of each batch the inputs by their names, `targets` and `sample_weight`;
            and `shapes/NAME`, int64 `[batches, rank]`.

    Raises:
        ValueError: If the name of the file does not end in `.npz`, or there is no batch, or no end.
    """
    if not os.fspath(path).endswith(".npz"):
        raise ValueError(f"Expected a file name that ends in .npz. Received: path={str(path)!r}.")
    if dataset.cardinality() == -1:
        raise ValueError(
            "Expected a dataset that ends. Received: an infinite dataset. Leave out the repeat()."
        )
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


def _write(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    with archive.open(f"{name}.npy", "w") as file:
        np.save(file, array)
