"""Callback that keeps the best model."""

import math
import os
from collections.abc import Iterable

import keras

from kerasnmt.atomic_write import atomic_write

_WORST = (-math.inf, -math.inf)


class BestModel(keras.callbacks.Callback):
    """Callback that writes the model after each epoch that is better than all earlier epochs.

    The file does not contain the state of the optimizer, which has twice the size of the weights.
    It is replaced in one operation, so it can be used during training.

    Args:
        path: Path of the file. It ends with ".keras".
        monitor: Name of the score in the logs of an epoch. Higher is better, except for
            `"val_loss"`. If two scores are equal, the one with the lower `val_loss` is better.
        earlier: Logs of the earlier epochs of resumed training.

    Attributes:
        is_latest: Whether the latest epoch was the best so far.
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
        self.is_latest = False
        self._best = max(map(self._rank, earlier), default=_WORST)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the model if it is the best so far."""
        self.is_latest = self.offer(logs or {})

    def offer(self, logs: dict) -> bool:
        """Write the model if its scores are the best so far.

        Args:
            logs: Scores of the model.

        Returns:
            Whether they are the best so far.
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
        """Return the score and the negative loss. Higher is better."""
        if self.monitor not in logs:
            return _WORST
        loss = logs.get("val_loss")
        # A history file contains null instead of NaN.
        negative = -loss if loss is not None and math.isfinite(loss) else -math.inf
        if self.monitor == "val_loss":
            return negative, 0.0
        return logs[self.monitor], negative
