"""The best model of a training."""

import math
import os
from collections.abc import Iterable

import keras

from kerasnmt.atomic_write import atomic_write

_WORST = (-math.inf, -math.inf)


class BestModel(keras.callbacks.Callback):
    """Writes the model whenever an epoch is better than all before it.

    Without the optimizer's state, which is twice the size of the weights: the file is for
    translating. It is replaced whole, so it can be used while the training goes on.

    Args:
        path: a file name ending in ".keras".
        monitor: the score among the epoch's logs, the higher the better, or `"val_loss"`, the lower
            the better; of equal scores, that with the lower `val_loss` is better.
        earlier: the logs of the epochs so far, of a training that is continued.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        *,
        monitor: str = "val_bleu",
        earlier: Iterable[dict] = (),
    ) -> None:
        super().__init__()
        self.path = path
        self.monitor = monitor
        self._best = max(map(self._rank, earlier), default=_WORST)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the model if it is the best."""
        self.offer(logs or {})

    def offer(self, logs: dict) -> bool:
        """Write the model if its scores are the best, and say whether they are.

        Args:
            logs: what the model was scored as.
        """
        rank = self._rank(logs)
        is_best = rank > self._best
        if is_best:
            self._best = rank
            model = self.model.from_config(self.model.get_config())
            model.set_weights(self.model.get_weights())
            with atomic_write(self.path) as path:
                model.save(path)
        return is_best

    def _rank(self, logs: dict) -> tuple[float, float]:
        """The score and the loss with its sign turned: the higher the better."""
        if self.monitor not in logs:
            return _WORST
        loss = logs.get("val_loss")
        known = loss is not None and math.isfinite(loss)  # a history has null for NaN
        if self.monitor == "val_loss":
            return (-loss if known else -math.inf), 0.0
        return logs[self.monitor], -loss if known else -math.inf
