"""Validation with averaged weights."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt.models.inner_optimizer import inner_optimizer
from kerasnmt.training.callbacks.callback_group import CallbackGroup


class MovingAverage(CallbackGroup):
    """Callback that validates with the moving average of the weights.

    The optimizer computes the average: `keras.optimizers.Adam(use_ema=True, ema_momentum=0.999)`.
    The average replaces the weights during validation, and while the given callbacks run at the end
    of the epoch. Then training continues with the weights. Other callbacks, such as `Checkpoint`,
    see the weights. With `keras.callbacks.SwapEMAWeights`, all callbacks see the average.

    Keras averages after each batch, also while gradients are accumulated over n batches and the
    weights stay the same. For a momentum of m per update, use m^(1/n).

    ```python
    callbacks = [MovingAverage([TranslationQuality(sources, references), BestModel(path)])]
    ```

    Source: Polyak and Juditsky (1992), "Acceleration of stochastic approximation by averaging".

    Args:
        callbacks: Callbacks that see the average at the end of an epoch.
    """

    def __init__(self, callbacks: Sequence[keras.callbacks.Callback]) -> None:
        super().__init__(callbacks)
        self._weights: Any = None  # the weights, while the model has the average
        self._trains = False

    def set_model(self, model: keras.Model) -> None:
        """Pass the model to the callbacks.

        Raises:
            ValueError: If the model's optimizer does not compute an average.
        """
        super().set_model(model)
        optimizer = inner_optimizer(model.optimizer)
        if not optimizer.use_ema:
            raise ValueError(
                "Expected an optimizer with a moving average, such as "
                "keras.optimizers.Adam(use_ema=True). "
                f"Received: {type(optimizer).__name__} with use_ema=False."
            )

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Call the callbacks."""
        self._trains, self._weights = True, None  # an interrupted validation leaves weights
        super().on_train_begin(logs)

    def on_test_begin(self, logs: dict | None = None) -> None:
        """Replace the weights by their average when validation begins."""
        if self._trains:
            self._use_average()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Call the callbacks with the average, and restore the weights."""
        self._use_average()
        super().on_epoch_end(epoch, logs)
        for variable, weight in zip(self.model.trainable_variables, self._weights, strict=True):
            variable.assign(weight)
        self._weights = None

    def on_train_end(self, logs: dict | None = None) -> None:
        """Call the callbacks."""
        self._trains = False
        super().on_train_end(logs)

    def _use_average(self) -> None:
        if self._weights is None:
            variables = self.model.trainable_variables
            self._weights = [keras.ops.convert_to_numpy(variable) for variable in variables]
            self.model.optimizer.finalize_variable_values(variables)
            for variable in variables:
                # Evaluation on JAX frees the arrays of the weights, so the average needs a copy.
                variable.assign(keras.ops.copy(variable))
