"""Batches out of a file, for training on any backend."""

import os
import zipfile
from typing import Any

import keras
import numpy as np

# What is raised of a file that is missing, damaged, or another.
_UNREADABLE = (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, KeyError)


class SavedBatches(keras.utils.PyDataset):
    """The batches of a file that `save_batches` wrote, for `fit` and `evaluate`.

    Needs NumPy and Keras alone, on any backend. Batches are read when they are asked for, so that
    the file may be larger than memory.

    ```python
    model = bahdanau_gru(8000)
    model.compile("adam")
    model.fit(SavedBatches("train.npz", seed=1), epochs=10, shuffle=False)
    ```

    With `fit(shuffle=True)`, Keras' default, the order is Keras' own, and `seed` says nothing.

    Args:
        path: Of the file.
        shuffle: Whether the batches come in another order every epoch, else in that of the file,
            but for one that is moved to the second place. What is in a batch stays.
        seed: Makes the orders of all epochs the same in every run.
        **kwargs: As in `keras.utils.PyDataset`: `workers`, `max_queue_size`.

    Raises:
        ValueError: If there is no such file, or it is none of `save_batches`.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        *,
        shuffle: bool = True,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        try:
            self._arrays = np.load(path)
            self._shapes = {
                name.removeprefix("shapes/"): self._arrays[name]
                for name in self._arrays.files
                if name.startswith("shapes/")
            }
            count = len(self._shapes["targets"])
        except (
            OSError,
            ValueError,
            EOFError,
            zipfile.BadZipFile,
            AttributeError,
            KeyError,
        ) as error:
            raise ValueError(
                "Expected a file of batches, as kerasnmt.data.save_batches writes. "
                f"Received: path={str(path)!r} ({getattr(error, 'strerror', None) or error})."
            ) from error
        self._shuffle = shuffle
        self._random = np.random.default_rng(seed)
        self._order = np.arange(count)
        self._draw()

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._order)

    def __getitem__(self, index: int) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Return `(inputs, targets, sample_weight)`, see `batches`, at a place of this epoch."""
        number = self._order[index]
        batch = {name: self._arrays[f"{name}/{number}"] for name in self._shapes}
        targets, weight = batch.pop("targets"), batch.pop("sample_weight")
        return batch, targets, weight

    def on_epoch_end(self) -> None:
        """Draw the order of the next epoch."""
        self._draw()

    def _draw(self) -> None:
        if self._shuffle:
            self._random.shuffle(self._order)
        # On TensorFlow Keras learns from the first two batches which dimensions vary, beside the
        # number of rows: the second is one that differs from the first in all of these.
        shapes = [array[self._order, 1:] for array in self._shapes.values()]
        shapes = np.concatenate(shapes, axis=1)
        differs = shapes != shapes[0]
        second = np.argmax(differs[:, differs.any(axis=0)].all(axis=1))
        if second > 1:
            self._order[[1, second]] = self._order[[second, 1]]
