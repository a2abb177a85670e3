"""Sentence lengths in TensorBoard."""

import os
from collections.abc import Mapping, Sequence

import keras
import tensorflow as tf
from tensorboard.plugins.histogram.metadata import create_summary_metadata

from kerasnmt.data import describe_batches


class LengthHistograms(keras.callbacks.Callback):
    """Callback that shows how many sentences of the training data have each length.

    Before the first step of training, it writes the histograms `length/source` and `length/target`.
    They go to the run `data` in TensorBoard's log folder. Lengths include end tokens, without
    padding. Each length has its own bar, with the length in its center.

    Args:
        log_dir: Log folder of TensorBoard.
        batches: Dataset from `kerasnmt.data.batches`, which is read once. Or
            `describe_batches(dataset).lengths`, if the dataset has been read before.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike,
        batches: tf.data.Dataset | Mapping[str, Sequence[int]],
    ) -> None:
        super().__init__()
        self.log_dir = os.path.join(log_dir, "data")
        self.batches = batches

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Count the lengths, and write the histograms."""
        if keras.ops.convert_to_numpy(self.model.optimizer.iterations) > 0:
            return
        if isinstance(self.batches, Mapping):
            lengths = self.batches
        else:
            lengths = describe_batches(self.batches).lengths
        writer = tf.summary.create_file_writer(self.log_dir)
        with writer.as_default(step=0):
            for side, counts in lengths.items():
                bars = [(n - 0.5, n + 0.5, count) for n, count in enumerate(counts)]
                shortest = next((n for n, count in enumerate(counts) if count), None)
                if shortest is not None:
                    tf.summary.write(
                        f"length/{side}",
                        tf.constant(bars[shortest:], tf.float64),
                        metadata=create_summary_metadata(display_name=None, description=None),
                    )
        writer.close()
