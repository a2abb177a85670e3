"""Curves over the steps of training in TensorBoard."""

import os
from typing import Any

import tensorflow as tf
from keras import ops

from kerasnmt.models.inner_optimizer import inner_optimizer
from kerasnmt.sizes import check_size
from kerasnmt.training.callbacks.tensorboard_run import TensorBoardRun
from kerasnmt.training.optimizers import GradientNorm
from kerasnmt.training.up_to_date import bring_up_to_date


class StepScalars(TensorBoardRun):
    """Callback that writes loss, learning rate and norms at regular steps of training.

    The curves go to the run `steps` in TensorBoard's log folder:

    - `loss`: Mean loss of the steps since the previous value, within the epoch.
    - `learning_rate`: Learning rate of the next step.
    - `gradient_norm`: Gradient norm of the latest step, before clipping, if the optimizer is a
      `GradientNorm`, such as `kerasnmt.training.Adam`.
    - `weight_norm`: Norm of all trainable weights together, and of each part of the model, such as
      `weight_norm/encoder`.

    Resumed training continues the curves. TensorBoard drops the points that the interrupted
    training has written after the point of resumption, unless `--load_fast=false` is set.

    Between the values, nothing is read, so an accelerator does not wait.

    Args:
        log_dir: Log folder of TensorBoard.
        every: Number of optimizer steps between two values.

    Raises:
        ValueError: If `every` is below 1.
    """

    def __init__(self, log_dir: str | os.PathLike, *, every: int = 100) -> None:
        super().__init__(log_dir, "steps")
        check_size("every", every)
        self.every = every

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Open the event file."""
        super().on_train_begin(logs)
        optimizer = inner_optimizer(self.model.optimizer)
        self._batches_a_step = optimizer.gradient_accumulation_steps or 1

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Read the number of steps so far."""
        self._batches = self._steps() * self._batches_a_step
        self._last_batch = -1
        self._sums: Any = None

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        """Read the sums of the loss so far, which are not 0 if an interrupted epoch resumes."""
        if self._sums is None:
            self._sums = self._loss_sums()

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Write the values if they are due."""
        window = self.every * self._batches_a_step
        before = self._batches // window
        self._batches += batch - self._last_batch  # more than 1 with `steps_per_execution`
        self._last_batch = batch
        if self._batches // window > before:
            self._write()

    def _write(self) -> None:
        bring_up_to_date(self.model)
        model, optimizer = self.model, inner_optimizer(self.model.optimizer)
        with self.writer.as_default(step=self._steps()):
            total, count = self._loss_sums()
            if count > self._sums[1]:
                tf.summary.scalar("loss", (total - self._sums[0]) / (count - self._sums[1]))
                self._sums = total, count
            tf.summary.scalar("learning_rate", _number(optimizer.learning_rate))
            if isinstance(optimizer, GradientNorm):
                tf.summary.scalar("gradient_norm", _number(optimizer.gradient_norm))
            tf.summary.scalar("weight_norm", _norm(model.trainable_variables))
            for layer in model.layers:
                if layer.trainable_variables:
                    tf.summary.scalar(f"weight_norm/{layer.name}", _norm(layer.trainable_variables))
        self.writer.flush()

    def _loss_sums(self) -> tuple[float, float]:
        """Return the sum and the count of the mean loss, or zeros before the first batch."""
        means = (metric for metric in self.model.metrics if metric.name == "loss")
        return next(((_number(mean.total), _number(mean.count)) for mean in means), (0.0, 0.0))

    def _steps(self) -> int:
        return int(_number(self.model.optimizer.iterations))


def _norm(variables: list[Any]) -> float:
    """Return the Euclidean norm of all variables together."""
    squares = [ops.sum(ops.square(ops.cast(variable, "float32"))) for variable in variables]
    return _number(ops.sqrt(sum(squares)))


def _number(scalar: Any) -> float:
    """Return a scalar tensor or variable, which can be on several devices, as a number."""
    return float(ops.convert_to_numpy(scalar))
