"""The best model of a training."""

import math
import os

import keras

from kerasnmt.training.atomic_write import atomic_write


class BestModel(keras.callbacks.Callback):
    """Writes the model whenever an epoch is better than all before it.

    Without the optimizer's state, which is twice the size of the weights: the file is for
    translating. It is replaced whole, so it can be used while the training goes on.

    Args:
        path: a file name ending in ".keras".
        monitor: the score among the epoch's logs, the higher the better.
        best: the best score so far, of a training that is continued.
    """

    def __init__(
        self, path: str | os.PathLike, *, monitor: str = "val_bleu", best: float = -math.inf
    ) -> None:
        super().__init__()
        self.path = path
        self.monitor = monitor
        self.best = best

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the model if it is the best."""
        score = (logs or {}).get(self.monitor, -math.inf)
        if score > self.best:
            self.best = score
            model = self.model.from_config(self.model.get_config())
            model.set_weights(self.model.get_weights())
            with atomic_write(self.path) as path:
                model.save(path)
