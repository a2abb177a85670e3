"""Callbacks of Keras with a memory, in a resumed training."""

from collections.abc import Sequence

import keras


class Replayed(keras.callbacks.Callback):
    """Shows a callback of Keras the epochs before an interruption first.

    `keras.callbacks.EarlyStopping` and `ReduceLROnPlateau` count the epochs since the best one, and
    forget them in every call of `fit`. Here each call first goes through the epochs on record, so
    that an interruption changes nothing.

    ```python
    history = EpochHistory("run/history.jsonl", initial_epoch=place.epoch)
    stopping = Replayed(keras.callbacks.EarlyStopping("val_bleu", mode="max"), history.records)
    ```

    Args:
        callback: A callback that depends on nothing but the logs of the epochs.
        records: Logs of the epochs so far, with their number `epoch`, counted from 1, as
            `EpochHistory` keeps them.
        learning_rate: Learning rate of the first epoch, for a callback that changes it. Each call
            of `fit` begins with it, before the epochs on record change it.
    """

    def __init__(
        self,
        callback: keras.callbacks.Callback,
        records: Sequence[dict],
        *,
        learning_rate: float | None = None,
    ) -> None:
        super().__init__()
        self.callback = callback
        self.records = records
        self.learning_rate = learning_rate

    def set_model(self, model: keras.Model) -> None:
        """Give the callback the model."""
        super().set_model(model)
        self.callback.set_model(model)

    def set_params(self, params: dict) -> None:
        """Give the callback the parameters of the training."""
        super().set_params(params)
        self.callback.set_params(params)

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Go through the epochs on record."""
        if self.learning_rate is not None:
            self.model.optimizer.learning_rate = self.learning_rate
        self.callback.on_train_begin(logs)
        for record in self.records:
            epoch = record["epoch"] - 1
            self.callback.on_epoch_begin(epoch)
            self.callback.on_epoch_end(epoch, dict(record))

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Pass the epoch on."""
        self.callback.on_epoch_begin(epoch, logs)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Pass the epoch on."""
        self.callback.on_epoch_end(epoch, logs)

    def on_train_end(self, logs: dict | None = None) -> None:
        """Pass the end on."""
        self.callback.on_train_end(logs)
