"""Validation with averaged weights."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt.models.inner_optimizer import inner_optimizer


class MovingAverage(keras.callbacks.Callback):
    """Shows validation, and the given callbacks, the moving average of the weights.

    The optimizer keeps the average, `keras.optimizers.Adam(use_ema=True, ema_momentum=0.999)`. It
    takes the place of the weights while the validation data are evaluated and while the given
    callbacks are called at the end of the epoch. Then the weights come back, and the training goes
    on with them. Other callbacks, such as `Checkpoint`, see the weights. (With
    `keras.callbacks.SwapEMAWeights` all callbacks see the average.)

    ```python
    callbacks = [MovingAverage([TranslationQuality(sources, references), BestModel(path)])]
    ```

    Source: Polyak and Juditsky (1992), "Acceleration of stochastic approximation by averaging".

    Args:
        callbacks: Callbacks that see the average at the end of an epoch.
    """

    def __init__(self, callbacks: Sequence[keras.callbacks.Callback]) -> None:
        super().__init__()
        self.callbacks = list(callbacks)
        self._weights: Any = None  # while the model has the average
        self._trains = False

    def set_model(self, model: keras.Model) -> None:
        """Give the callbacks the model.

        Raises:
            ValueError: The model's optimizer keeps no average.
        """
        super().set_model(model)
        optimizer = inner_optimizer(model.optimizer)
        if not optimizer.use_ema:
            raise ValueError(
                "Expected an optimizer that keeps a moving average, as "
                "keras.optimizers.Adam(use_ema=True). "
                f"Received: {type(optimizer).__name__} with use_ema=False."
            )
        for callback in self.callbacks:
            callback.set_model(model)

    def set_params(self, params: dict) -> None:
        """Give the callbacks the parameters of the training."""
        super().set_params(params)
        for callback in self.callbacks:
            callback.set_params(params)

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Pass the beginning on."""
        self._trains = True
        for callback in self.callbacks:
            callback.on_train_begin(logs)

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Pass the epoch on."""
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs)

    def on_test_begin(self, logs: dict | None = None) -> None:
        """Replace the weights by their average when validation begins."""
        if self._trains:
            self._put_average()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Show the callbacks the average, and put the weights back."""
        self._put_average()
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs)
        for variable, weight in zip(self.model.trainable_variables, self._weights, strict=True):
            variable.assign(weight)
        self._weights = None

    def on_train_end(self, logs: dict | None = None) -> None:
        """Pass the end on."""
        self._trains = False
        for callback in self.callbacks:
            callback.on_train_end(logs)

    def _put_average(self) -> None:
        if self._weights is None:
            variables = self.model.trainable_variables
            self._weights = [keras.ops.convert_to_numpy(variable) for variable in variables]
            self.model.optimizer.finalize_variable_values(variables)
            for variable in variables:
                # Evaluation on JAX frees the arrays of the weights; the average keeps its own.
                variable.assign(keras.ops.copy(variable))
