"""Sentence lengths in TensorBoard."""

import os

import keras
import numpy as np
import tensorflow as tf


class LengthHistograms(keras.callbacks.Callback):
    """Callback that shows how many sentences of the training data have each length.

    It reads the data once, before the first step of training, and writes the histograms
    `length/source` and `length/target`. They go to the run `data` in TensorBoard's log folder.
    Lengths include end tokens, without padding. Each length has its own bar.

    Args:
        log_dir: Log folder of TensorBoard.
        batches: Dataset from `kerasnmt.data.batches`.
    """

    def __init__(self, log_dir: str | os.PathLike, batches: tf.data.Dataset) -> None:
        super().__init__()
        self.log_dir = os.path.join(log_dir, "data")
        self.batches = batches

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Count the lengths, and write the histograms."""
        if keras.ops.convert_to_numpy(self.model.optimizer.iterations) > 0:
            return
        lengths: dict[str, list[np.ndarray]] = {"source": [], "target": []}
        for inputs, targets, _ in self.batches.as_numpy_iterator():
            real = (targets != 0).any(axis=1)  # without rows of padding
            lengths["source"].append((inputs["source_ids"][real] != 0).sum(axis=1))
            lengths["target"].append((targets[real] != 0).sum(axis=1))
        writer = tf.summary.create_file_writer(self.log_dir)
        with writer.as_default(step=0):
            for side, parts in lengths.items():
                values = np.concatenate(parts)
                # There is one bar for each length.
                bars = int(values.max() - values.min()) + 1
                tf.summary.histogram(f"length/{side}", values, buckets=bars)
        writer.close()
