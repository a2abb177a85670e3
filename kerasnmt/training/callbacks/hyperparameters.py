"""Hyperparameters in TensorBoard."""

import os
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf
from tensorboard.plugins.hparams import api_pb2, summary

from kerasnmt.training.dotted import dotted


class Hyperparameters(keras.callbacks.Callback):
    """Shows the settings of a training beside its scores, in TensorBoard's HParams tab.

    With a folder above those of several trainings (`tensorboard --logdir runs`) the tab is a table:
    a row for each training, a column for each value and for each curve's last point.

    Args:
        log_dir: TensorBoard's folder for this training.
        values: Settings of the training. Mappings within become dotted names, such as
            `model.units`. None is shown as "null", and any other value that is no number, boolean
            or string as `str` writes it.
    """

    def __init__(self, log_dir: str | os.PathLike, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.log_dir = os.fspath(log_dir)
        self.values = {name: _shown(value) for name, value in dotted(values).items()}

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Write the values."""
        self._write(summary.session_start_pb(self.values))

    def on_train_end(self, logs: dict | None = None) -> None:
        """Write that the training has ended."""
        self._write(summary.session_end_pb(api_pb2.STATUS_SUCCESS))

    def write_scores(self, scores: Mapping[str, float]) -> None:
        """Add scores of the trained model, such as those on the test data.

        Args:
            scores: Numbers by their names.
        """
        writer = tf.summary.create_file_writer(self.log_dir)
        with writer.as_default(step=0):
            for name, score in scores.items():
                tf.summary.scalar(name, score)
        writer.close()

    def _write(self, pb: Any) -> None:
        writer = tf.summary.create_file_writer(self.log_dir)
        with writer.as_default(step=0):
            tf.summary.experimental.write_raw_pb(pb.SerializeToString())
        writer.close()


def _shown(value: Any) -> bool | float | str:
    """Return a value as the plugin needs it."""
    if isinstance(value, bool | int | float | str):
        return value
    return "null" if value is None else str(value)
