"""Batches of rows that are all in memory."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def batches_of_rows(
    count: int, gather: Callable[[tf.Tensor], Any], batch_size: int, shuffle: bool, seed: int | None
) -> tf.data.Dataset:
    """Gather the rows of each batch.

    Args:
        count: Number of rows.
        gather: Makes a batch of the numbers of its rows, int64 `[batch]`.
        batch_size: Number of rows of a batch.
        shuffle: Whether to shuffle, anew in each epoch.
        seed: Seed of the whole sequence of epochs.

    Returns:
        A dataset of known cardinality.
    """
    rows = tf.data.Dataset.range(count)
    if shuffle:
        rows = rows.shuffle(count, seed)
    return rows.batch(batch_size).map(gather, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
