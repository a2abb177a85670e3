"""Callbacks with a memory, in a training that goes on."""

from collections.abc import Sequence

import keras


class Replayed(keras.callbacks.Callback):
    """Lets a callback of Keras see the epochs before an interruption first.

    `keras.callbacks.EarlyStopping` and `ReduceLROnPlateau` count the epochs since the best one, and
    begin anew with every call of `fit`. Here each begins with the epochs that are on record; so it
    does what it would have done without the interruption.

    ```python
    history = EpochHistory("run/history.jsonl", initial_epoch=place.epoch)
    stopping = Replayed(keras.callbacks.EarlyStopping("val_bleu", mode="max"), history.records)
    ```

    Args:
        callback: which depends on the logs of the epochs alone. Where it changes the learning rate,
            that of the optimizer should be the first one when `fit` begins.
        records: the logs of the epochs so far, with their number `epoch`, counted from 1; as
            `EpochHistory` keeps them.
    """

    def __init__(self, callback: keras.callbacks.Callback, records: Sequence[dict]) -> None:
        super().__init__()
        self.callback = callback
        self.records = records

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
