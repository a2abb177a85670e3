"""Batches of rows in memory."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def batches_of_rows(
    count: int, gather: Callable[[tf.Tensor], Any], batch_size: int, shuffle: bool, seed: int | None
) -> tf.data.Dataset:
    """Return the batches of rows in memory.

    Args:
        count: Number of rows.
        gather: Function from the numbers of the rows of a batch, int64 `[batch]`, to the batch.
        batch_size: Number of rows of a batch.
        shuffle: Whether to shuffle in each epoch.
        seed: Seed of the whole sequence of epochs.

    Returns:
        A dataset with known cardinality.
    """
    rows = tf.data.Dataset.range(count)
    if shuffle:
        rows = rows.shuffle(count, seed)
    return rows.batch(batch_size).map(gather, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
