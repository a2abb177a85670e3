"""Hyperparameters in TensorBoard."""

import os
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf
from tensorboard.plugins.hparams import api_pb2, summary


class Hyperparameters(keras.callbacks.Callback):
    """Shows what a training was told beside how it ended, in TensorBoard's HParams tab.

    With a folder above those of several trainings (`tensorboard --logdir runs`) the tab is a table
    of them: a row for each training, a column for each value and for each curve's last point.

    Args:
        log_dir: TensorBoard's folder for this training.
        values: what the training depends on. Mappings within become dotted names, such as
            `model.units`; what is no number, boolean or string is shown as `str` writes it, and
            None as "null".
    """

    def __init__(self, log_dir: str | os.PathLike, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.log_dir = os.fspath(log_dir)
        self.values = _flat(values)

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Write the values."""
        self._write(summary.session_start_pb(self.values))

    def on_train_end(self, logs: dict | None = None) -> None:
        """Write that the training is done."""
        self._write(summary.session_end_pb(api_pb2.STATUS_SUCCESS))

    def write_scores(self, scores: Mapping[str, float]) -> None:
        """Add scores of the trained model, such as those on the test data.

        Args:
            scores: names and numbers.
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


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of a nested mapping by their dotted names, as the plugin takes them."""
    flat = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, bool | int | float | str):
            flat[prefix + name] = value
        else:
            flat[prefix + name] = "null" if value is None else str(value)
    return flat
