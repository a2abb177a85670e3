"""Batches from a file, for training on any backend."""

import os
import zipfile
from typing import Any

import keras
import numpy as np

# Errors for a file that is missing, damaged or of another kind.
_UNREADABLE = (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, KeyError)


class SavedBatches(keras.utils.PyDataset):
    """Batches of a file that `save_batches` wrote, for `fit` and `evaluate`.

    They need only NumPy and Keras, on any backend. Batches are read when they are needed, so the
    file may be larger than memory.

    ```python
    model = bahdanau_gru(8000)
    model.compile("adam")
    model.fit(SavedBatches("train.npz", seed=1), epochs=10, shuffle=False)
    ```

    With `fit(shuffle=True)`, the default, Keras chooses the order, and `seed` has no effect.

    Args:
        path: Path of the file.
        shuffle: Whether to shuffle the order of the batches in each epoch. Their contents stay. If
            False, the batches keep the order of the file, but one of them moves to the second
            place.
        seed: Seed of the whole sequence of epochs.
        **kwargs: Arguments of `keras.utils.PyDataset`: `workers`, `max_queue_size`.

    Raises:
        ValueError: If the file is missing, or `save_batches` did not write it.
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
        except _UNREADABLE as error:
            raise ValueError(
                "Expected a file of batches that kerasnmt.data.save_batches wrote. "
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
        """Return a batch `(inputs, targets, sample_weight)` of this epoch."""
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
        # On TensorFlow, Keras infers from the first two batches which dimensions vary. So the
        # second batch must differ from the first in all dimensions that vary.
        shapes = np.concatenate([array[self._order, 1:] for array in self._shapes.values()], axis=1)
        differs = shapes != shapes[0]
        second = int(np.argmax(differs[:, differs.any(axis=0)].all(axis=1)))
        if second > 1:
            self._order[[1, second]] = self._order[[second, 1]]
