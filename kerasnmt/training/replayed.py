"""Callbacks with a memory, in a training that goes on."""

from collections.abc import Sequence

import keras


class Replayed(keras.callbacks.Callback):
    """Lets a callback of Keras see the epochs before an interruption first.

    `keras.callbacks.EarlyStopping` and `ReduceLROnPlateau` count the epochs since the best one, and
    forget them with every call of `fit`. Here each call goes through the epochs on record first. So
    the callback does what it would have done without the interruption.

    ```python
    history = EpochHistory("run/history.jsonl", initial_epoch=place.epoch)
    stopping = Replayed(keras.callbacks.EarlyStopping("val_bleu", mode="max"), history.records)
    ```

    Args:
        callback: a callback that depends only on the logs of the epochs.
        records: the logs of the epochs so far, with their number `epoch`, counted from 1; as
            `EpochHistory` keeps them.
        learning_rate: the learning rate of the first epoch, for a callback that changes it. Each
            call of `fit` begins with it, before the epochs on record change it.
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
        """Tell the callback its model."""
        super().set_model(model)
        self.callback.set_model(model)

    def set_params(self, params: dict) -> None:
        """Tell the callback the parameters of the training."""
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
        """Hand the epoch on."""
        self.callback.on_epoch_begin(epoch, logs)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Hand the epoch on."""
        self.callback.on_epoch_end(epoch, logs)

    def on_train_end(self, logs: dict | None = None) -> None:
        """Hand the end on."""
        self.callback.on_train_end(logs)
