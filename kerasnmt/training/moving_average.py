"""Validation with averaged weights."""

from collections.abc import Sequence

import keras


class MovingAverage(keras.callbacks.Callback):
    """Lets validation, and what comes with it, see the moving average of the weights.

    The average is kept by the optimizer, `keras.optimizers.Adam(use_ema=True, ema_momentum=0.999)`.
    It takes the place of the weights while the validation data are evaluated and while the given
    callbacks see the end of the epoch; then the weights come back, and the training goes on with
    them. Callbacks beside this one, as `Checkpoint`, see the weights. (After
    `keras.callbacks.SwapEMAWeights` all of them see the average.)

    ```python
    callbacks = [MovingAverage([TranslationQuality(sources, references), BestModel(path)])]
    ```

    Source: Polyak and Juditsky (1992), "Acceleration of stochastic approximation by averaging".

    Args:
        callbacks: those that see the average, at the end of an epoch.
    """

    def __init__(self, callbacks: Sequence[keras.callbacks.Callback]) -> None:
        super().__init__()
        self.callbacks = list(callbacks)
        self._weights = None
        self._trains = False

    def set_model(self, model: keras.Model) -> None:
        """Tell the callbacks their model.

        Raises:
            ValueError: its optimizer keeps no average.
        """
        super().set_model(model)
        optimizer = model.optimizer
        if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
            optimizer = optimizer.inner_optimizer
        if not optimizer.use_ema:
            raise ValueError(
                "Expected an optimizer that keeps a moving average, as "
                "keras.optimizers.Adam(use_ema=True). "
                f"Received: {type(optimizer).__name__} with use_ema=False."
            )
        for callback in self.callbacks:
            callback.set_model(model)

    def set_params(self, params: dict) -> None:
        """Tell the callbacks the parameters of the training."""
        super().set_params(params)
        for callback in self.callbacks:
            callback.set_params(params)

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Hand the beginning on."""
        self._trains = True
        for callback in self.callbacks:
            callback.on_train_begin(logs)

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Hand the epoch on."""
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs)

    def on_test_begin(self, logs: dict | None = None) -> None:
        """Put the average in the place of the weights, where validation begins."""
        if self._trains:
            self._put_average()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Let the callbacks see the average, and put the weights back."""
        self._put_average()
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs)
        for variable, weight in zip(self.model.trainable_variables, self._weights, strict=True):
            variable.assign(weight)
        self._weights = None

    def on_train_end(self, logs: dict | None = None) -> None:
        """Hand the end on."""
        self._trains = False
        for callback in self.callbacks:
            callback.on_train_end(logs)

    def _put_average(self) -> None:
        if self._weights is None:
            variables = self.model.trainable_variables
            self._weights = [keras.ops.convert_to_numpy(variable) for variable in variables]
            self.model.optimizer.finalize_variable_values(variables)
