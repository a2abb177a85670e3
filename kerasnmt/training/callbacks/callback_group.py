"""Callbacks that call other callbacks."""

from collections.abc import Sequence

import keras

from kerasnmt.training.devices import Devices


class CallbackGroup(keras.callbacks.Callback):
    """Base class of callbacks that call others at the beginning of training and after each epoch.

    Args:
        callbacks: The other callbacks.
    """

    def __init__(self, callbacks: Sequence[keras.callbacks.Callback]) -> None:
        super().__init__()
        self.callbacks = list(callbacks)

    def set_model(self, model: keras.Model) -> None:
        """Pass the model to the callbacks."""
        super().set_model(model)
        for callback in self.callbacks:
            callback.set_model(model)

    def set_params(self, params: dict) -> None:
        """Pass the parameters of training to the callbacks."""
        super().set_params(params)
        for callback in self.callbacks:
            callback.set_params(params)

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Call the callbacks."""
        for callback in self.callbacks:
            callback.on_train_begin(logs)

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Call the callbacks."""
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Call the callbacks."""
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs)

    def on_train_end(self, logs: dict | None = None) -> None:
        """Call the callbacks."""
        for callback in self.callbacks:
            callback.on_train_end(logs)


class OnOneDevice(CallbackGroup):
    """Callback that calls others with a copy of the model, on one device of this process.

    The weights of the model of `fit` are on all devices of all processes, and a computation with
    them needs all processes.

    Args:
        callbacks: The other callbacks. They use the model only at the end of epochs.
        devices: Devices of training.
    """

    def __init__(self, callbacks: Sequence[keras.callbacks.Callback], devices: Devices) -> None:
        super().__init__(callbacks)
        self.devices = devices

    def set_model(self, model: keras.Model) -> None:
        """Copy the model, and pass the copy to the callbacks."""
        with self.devices.alone():
            self._copy = model.from_config(model.get_config())
        super().set_model(self._copy)
        self._model = model

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Copy the weights, and call the callbacks."""
        with self.devices.alone():
            self._copy.set_weights(self._model.get_weights())
            super().on_epoch_end(epoch, logs)
