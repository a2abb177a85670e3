"""What goes on within an epoch, in TensorBoard."""

import os
from typing import Any

import keras
import tensorflow as tf
from keras import ops


class StepScalars(keras.callbacks.Callback):
    """Writes loss, learning rate, and norms of gradient and weights every so many steps.

    They go to a run of their own in TensorBoard's folder, `steps`, at the optimizer's steps: the
    curves of a training that is continued go on where it does, and TensorBoard drops what an
    interruption left beyond that point (but for `tensorboard --load_fast=false`).

    - `loss`: the mean over the steps since the last value, within the epoch;
    - `learning_rate`: what the optimizer goes on with;
    - `gradient_norm`: of the step itself, before clipping, where the optimizer has it, as
      `kerasnmt.training.Adam` does;
    - `weight_norm`: of all trainable weights together, and of each of the model's parts, such as
      `weight_norm/encoder`.

    Between the values nothing is read, so an accelerator does not wait.

    Args:
        log_dir: TensorBoard's folder.
        every: how many steps of the optimizer lie between the values.

    Raises:
        ValueError: `every` is less than 1.
    """

    def __init__(self, log_dir: str | os.PathLike, *, every: int = 100) -> None:
        super().__init__()
        if every < 1:
            raise ValueError(f"Expected every to be at least 1. Received: every={every}")
        self.log_dir = os.path.join(log_dir, "steps")
        self.every = every

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Open the event file."""
        self._writer = tf.summary.create_file_writer(self.log_dir)
        self._batches_a_step = _inner(self.model.optimizer).gradient_accumulation_steps or 1

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """See how far the training is."""
        self._batches = self._steps() * self._batches_a_step
        self._last_batch, self._sums = -1, None

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        """See where the epoch's mean begins: not at 0 where an interrupted epoch goes on."""
        if self._sums is None:
            self._sums = self._loss_sums()

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Write the values, if it is time."""
        window = self.every * self._batches_a_step
        before = self._batches // window
        self._batches += batch - self._last_batch  # several, where one execution has several
        self._last_batch = batch
        if self._batches // window > before:
            self._write()

    def on_train_end(self, logs: dict | None = None) -> None:
        """Close the event file."""
        self._writer.close()

    def _write(self) -> None:
        model, optimizer = self.model, _inner(self.model.optimizer)
        with self._writer.as_default(step=self._steps()):
            total, count = self._loss_sums()
            if count > self._sums[1]:
                tf.summary.scalar("loss", (total - self._sums[0]) / (count - self._sums[1]))
                self._sums = total, count
            tf.summary.scalar("learning_rate", _number(optimizer.learning_rate))
            if hasattr(optimizer, "gradient_norm"):
                tf.summary.scalar("gradient_norm", _number(optimizer.gradient_norm))
            tf.summary.scalar("weight_norm", _norm(model.trainable_variables))
            for layer in model.layers:
                if layer.trainable_variables:
                    tf.summary.scalar(f"weight_norm/{layer.name}", _norm(layer.trainable_variables))
        self._writer.flush()

    def _loss_sums(self) -> tuple[float, float]:
        """The sum and the count of Keras' mean of the loss; zeros where there is none (yet)."""
        means = (metric for metric in self.model.metrics if metric.name == "loss")
        return next(((_number(mean.total), _number(mean.count)) for mean in means), (0.0, 0.0))

    def _steps(self) -> int:
        return int(_number(self.model.optimizer.iterations))


def _inner(optimizer: Any) -> Any:
    """The optimizer itself, where one for the scale of the loss is around it."""
    return getattr(optimizer, "inner_optimizer", optimizer)


def _norm(variables: list[Any]) -> float:
    """The Euclidean norm of variables together."""
    squares = [ops.sum(ops.square(ops.cast(variable, "float32"))) for variable in variables]
    return _number(ops.sqrt(sum(squares)))


def _number(scalar: Any) -> float:
    """A scalar tensor or variable, also one that several devices hold."""
    return float(ops.convert_to_numpy(scalar))
