"""Training that can be continued."""

import os
import re
from pathlib import Path

import keras

from kerasnmt.atomic_write import atomic_write


class Checkpoint(keras.callbacks.Callback):
    """Keeps weights and the optimizer's state after each epoch, to go on after an interruption.

    The number of the epoch is part of the file's name and the file appears whole, so at any moment
    one call of `os.replace` divides an epoch that counts from one that is done again. (With
    `keras.callbacks.BackupAndRestore` weights and epoch are two files.) Not kept are the state of
    dropout's random generators and the place in the data.

    ```python
    checkpoint = Checkpoint("run/checkpoints")
    model.fit(..., initial_epoch=checkpoint.restore(model), callbacks=[..., checkpoint])
    ```

    It should come last among the callbacks, so that what these write is there when an epoch counts.

    Args:
        directory: where to keep the file, the latest only.
    """

    def __init__(self, directory: str | os.PathLike) -> None:
        super().__init__()
        self.directory = Path(directory)

    @property
    def epochs(self) -> int:
        """The number of epochs that are kept; 0 where there is no checkpoint."""
        return max(self._files(), default=0)

    def restore(self, model: keras.Model) -> int:
        """Gives a compiled model the state of the latest checkpoint, if there is one.

        Args:
            model: of the same shape, with the same kind of optimizer.

        Returns:
            the number of epochs that the model was trained.
        """
        epochs = self.epochs
        if epochs:
            model.optimizer.build(model.trainable_variables)
            model.load_weights(self._files()[epochs])
        return epochs

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the checkpoint, and delete those before it."""
        with atomic_write(self.directory / f"epoch_{epoch + 1:04d}.weights.h5") as path:
            self.model.save_weights(path)
        for number, path in self._files().items():
            if number != epoch + 1:
                path.unlink()

    def _files(self) -> dict[int, Path]:
        """The checkpoints by their number of epochs."""
        names = {
            path: re.fullmatch(r"epoch_(\d+)\.weights\.h5", path.name)
            for path in self.directory.glob("epoch_*")
        }
        return {int(match[1]): path for path, match in names.items() if match}
