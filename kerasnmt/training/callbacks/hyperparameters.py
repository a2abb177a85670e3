"""Hyperparameters in TensorBoard."""

import os
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf
from tensorboard.plugins.hparams import api_pb2, summary

from kerasnmt.training.dotted import dotted


class Hyperparameters(keras.callbacks.Callback):
    """Callback that shows hyperparameters and scores in the HParams tab of TensorBoard.

    If TensorBoard gets the parent folder of several runs (`tensorboard --logdir runs`), the tab is
    a table with a row for each run, and a column for each hyperparameter and for the last point of
    each curve.

    Args:
        log_dir: Log folder of TensorBoard for this run.
        values: Hyperparameters. Nested mappings become dotted names, such as `model.units`. None
            becomes "null". Other values that are not numbers, booleans or strings become `str`.
    """

    def __init__(self, log_dir: str | os.PathLike, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.log_dir = os.fspath(log_dir)
        self.values = {name: _shown(value) for name, value in dotted(values).items()}

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Write the hyperparameters."""
        self._write(summary.session_start_pb(self.values))

    def on_train_end(self, logs: dict | None = None) -> None:
        """Write that training has ended."""
        self._write(summary.session_end_pb(api_pb2.STATUS_SUCCESS))

    def write_scores(self, scores: Mapping[str, float]) -> None:
        """Add scores of the trained model, such as scores on the test data.

        Args:
            scores: Numbers by name.
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
    """Return a value of a type that the plugin can show."""
    if isinstance(value, bool | int | float | str):
        return value
    return "null" if value is None else str(value)
