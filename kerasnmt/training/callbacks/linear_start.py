"""The first epochs of a memory network, without its softmax."""

import math

import keras

from kerasnmt.models import MemoryNetwork


class LinearStart(keras.callbacks.Callback):
    """Leaves the softmax of a memory network's hops out until the validation loss stops falling.

    A new training of a `kerasnmt.models.MemoryNetwork` begins with p_i = u^T m_i. After `patience`
    epochs without a better loss, the softmax is put in and stays. A variable of the model,
    `model.hop.linear`, holds the state and is saved with it, so a resumed training continues in the
    same state. The output softmax always stays.

    The paper halves the learning rate for the linear part. A schedule can read `ended`:

    ```python
    start = LinearStart()
    rate = lambda epoch: 0.005 if start.ended is None else 0.01
    model.fit(…, callbacks=[start, keras.callbacks.LearningRateScheduler(rate)])
    ```

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.2,
    "linear start".

    Args:
        monitor: Value of the epoch's logs that must fall.
        patience: Number of epochs without a better value after which the softmax is put in.
        max_epochs: Most epochs without a softmax; None for no limit.

    Attributes:
        ended: Number of linear epochs, once there is a softmax; None before.

    Raises:
        ValueError: A number is below 1; in `fit`, the model is no `MemoryNetwork`, or the logs have
            no `monitor`.
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
        self._best, self._waited = math.inf, 0

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Leave the softmax out of a model without a training step."""
        if not isinstance(self.model, MemoryNetwork):
            raise ValueError(
                "Expected a MemoryNetwork, for a linear start. Received: "
                f"{type(self.model).__name__}."
            )
        if int(self.model.optimizer.iterations) == 0:
            self.model.hop.linear.assign(1.0)
            self._best, self._waited = math.inf, 0
        self.ended = None if float(self.model.hop.linear) else 0

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Put the softmax in when the loss has stopped falling."""
        if self.ended is not None:
            return
        logs = logs or {}
        if self.monitor not in logs:
            raise ValueError(
                f"Expected {self.monitor} among the epoch's logs. Received: {sorted(logs)}. "
                "Give fit validation_data, or take monitor='loss'."
            )
        fell = logs[self.monitor] < self._best
        self._best = min(self._best, logs[self.monitor])
        self._waited = 0 if fell else self._waited + 1
        if self._waited >= self.patience or epoch + 1 == self.max_epochs:
            self.model.hop.linear.assign(0.0)
            self.ended = epoch + 1
