"""Linear start of a memory network."""

import math

import keras

from kerasnmt.models import MemoryNetwork


class LinearStart(keras.callbacks.Callback):
    """Callback that trains a memory network without softmax until the loss stops falling.

    Training of a new `kerasnmt.models.MemoryNetwork` begins with p_i = u^T m_i in the hops. After
    `patience` epochs without a better validation loss, the softmax is switched on, and stays on. A
    variable of the model, `model.hop.linear`, is the switch. It is saved with the model, so resumed
    training continues in the same state. The softmax of the output is always on.

    The paper halves the learning rate during the linear start. A schedule can read `ended`:

    ```python
    start = LinearStart()
    rate = lambda epoch: 0.005 if start.ended is None else 0.01
    model.fit(…, callbacks=[start, keras.callbacks.LearningRateScheduler(rate)])
    ```

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.2,
    "linear start".

    Args:
        monitor: Name of the value in the logs of an epoch that must fall.
        patience: Number of epochs without a better value after which the softmax is switched on.
        max_epochs: Maximum number of epochs without softmax, over all calls of `fit`, or None for
            no limit.

    Attributes:
        ended: Number of epochs without softmax, or None until the softmax is switched on.

    Raises:
        ValueError: If a number is below 1. From `fit`, if the model is not a `MemoryNetwork`, or
            `monitor` is not in the logs.
    """

    def __init__(
        self, monitor: str = "val_loss", patience: int = 1, max_epochs: int | None = None
    ) -> None:
        super().__init__()
        for name, value in (("patience", patience), ("max_epochs", max_epochs)):
            if value is not None and value < 1:
                raise ValueError(f"Expected {name} >= 1. Received: {name}={value}")
        self.monitor = monitor
        self.patience = patience
        self.max_epochs = max_epochs
        self.ended: int | None = None
        self._best, self._waited, self._epochs = math.inf, 0, 0

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Switch the softmax off if the model has not been trained yet."""
        if not isinstance(self.model, MemoryNetwork):
            raise ValueError(
                "Expected a MemoryNetwork for a linear start. Received: "
                f"{type(self.model).__name__}."
            )
        if int(self.model.optimizer.iterations) == 0:
            self.model.hop.linear.assign(1.0)
            self._best, self._waited, self._epochs = math.inf, 0, 0
        self.ended = None if float(self.model.hop.linear) else self.ended or 0

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Switch the softmax on when the loss has stopped falling."""
        if self.ended is not None:
            return
        logs = logs or {}
        if self.monitor not in logs:
            raise ValueError(
                f"Expected {self.monitor} in the logs of the epoch. Received: {sorted(logs)}. "
                "Pass validation_data to fit, or use monitor='loss'."
            )
        fell = logs[self.monitor] < self._best
        self._best = min(self._best, logs[self.monitor])
        self._waited = 0 if fell else self._waited + 1
        # Each call of `fit` may count its epochs from 0, or continue from `initial_epoch`.
        self._epochs = max(self._epochs, epoch) + 1
        most = math.inf if self.max_epochs is None else self.max_epochs
        if self._waited >= self.patience or self._epochs >= most:
            self.model.hop.linear.assign(0.0)
            self.ended = self._epochs
