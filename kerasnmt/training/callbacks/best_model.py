"""The best model of a training."""

import math
import os
from collections.abc import Iterable

import keras

from kerasnmt.atomic_write import atomic_write

_WORST = (-math.inf, -math.inf)


class BestModel(keras.callbacks.Callback):
    """Writes the model whenever an epoch is better than all before it.

    The file is for translation, without the optimizer's state, which has twice the size of the
    weights. It is replaced whole, so it can be used during the training.

    Args:
        path: File name that ends in ".keras".
        monitor: Score of the epoch's logs, higher is better; or `"val_loss"`, lower is better. Of
            equal scores, the one with the lower `val_loss` is better.
        earlier: Logs of the epochs so far, of a resumed training.
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
        """Write the model if its scores are the best.

        Args:
            logs: Scores of the model.

        Returns:
            Whether they are the best.
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
        """Return the score and the negative loss: higher is better."""
        if self.monitor not in logs:
            return _WORST
        loss = logs.get("val_loss")
        # A history has null for NaN.
        negative = -loss if loss is not None and math.isfinite(loss) else -math.inf
        if self.monitor == "val_loss":
            return negative, 0.0
        return logs[self.monitor], negative
