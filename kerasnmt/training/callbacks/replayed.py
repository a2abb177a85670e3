"""Keras callbacks with a state, in resumed training."""

from collections.abc import Sequence

import keras

from kerasnmt.training.callbacks.callback_group import CallbackGroup


class Replayed(CallbackGroup):
    """Callback that replays the epochs before an interruption for a Keras callback.

    `keras.callbacks.EarlyStopping` and `ReduceLROnPlateau` count the epochs since the best one, and
    start again in every call of `fit`. With this callback, each call of `fit` first replays the
    earlier epochs, so an interruption makes no difference.

    ```python
    history = EpochHistory("run/history.jsonl", initial_epoch=progress.epoch)
    stopping = Replayed(keras.callbacks.EarlyStopping("val_bleu", mode="max"), history.records)
    ```

    Args:
        callback: A callback that depends only on the logs of the epochs.
        records: Logs of the earlier epochs, with the number of each epoch as `epoch`, counted from
            1, such as `EpochHistory.records`.
        learning_rate: Learning rate of the first epoch, for a callback that changes it. Each call
            of `fit` starts with it, before it replays the earlier epochs.
    """

    def __init__(
        self,
        callback: keras.callbacks.Callback,
        records: Sequence[dict],
        *,
        learning_rate: float | None = None,
    ) -> None:
        super().__init__([callback])
        self.records = records
        self.learning_rate = learning_rate

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Replay the earlier epochs."""
        if self.learning_rate is not None:
            self.model.optimizer.learning_rate = self.learning_rate
        super().on_train_begin(logs)
        for record in self.records:
            epoch = record["epoch"] - 1
            self.on_epoch_begin(epoch)
            self.on_epoch_end(epoch, dict(record))
