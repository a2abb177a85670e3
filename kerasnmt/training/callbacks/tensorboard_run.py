"""The base of callbacks that write to TensorBoard."""

import os

import keras
import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401


class TensorBoardRun(keras.callbacks.Callback):
    """A callback that writes to a run of its own in TensorBoard's folder.

    `writer` is open from the beginning of the training to its end.

    Args:
        log_dir: TensorBoard's folder.
        name: Name of the run.
    """

    def __init__(self, log_dir: str | os.PathLike, name: str) -> None:
        super().__init__()
        self.log_dir = os.path.join(log_dir, name)

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Open the event file."""
        self.writer = tf.summary.create_file_writer(self.log_dir)

    def on_train_end(self, logs: dict | None = None) -> None:
        """Close the event file."""
        self.writer.close()
