"""Base class of callbacks that write to TensorBoard."""

import os

import keras
import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401


class TensorBoardRun(keras.callbacks.Callback):
    """Base class of callbacks that write to a separate run in TensorBoard's log folder.

    `writer` is open during training.

    Args:
        log_dir: Log folder of TensorBoard.
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
