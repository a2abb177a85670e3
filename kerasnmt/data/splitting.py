"""Batches for several devices and processes."""

import tensorflow as tf

from kerasnmt.sizes import check_size


def split_evenly(dataset: tf.data.Dataset, replicas: int) -> tf.data.Dataset:
    """Add rows of padding to batches, so that all devices get the same number of rows.

    A `tf.distribute` strategy divides the rows of a batch, and Keras fails if the devices get
    different numbers of rows. Rows of padding have no words, and do not change the losses, the
    weights or the perplexity.

    ```python
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = bahdanau_gru(tokenizer)
        model.compile("adam")
    train = split_evenly(batches(pairs, tokenizer), strategy.num_replicas_in_sync)
    model.fit(train, epochs=10, shuffle=False)
    ```

    Args:
        dataset: Dataset from `batches`.
        replicas: Number of devices.

    Returns:
        A dataset with the same structure and number of batches. The number of rows of each batch is
        a multiple of `replicas`.

    Raises:
        ValueError: If `replicas` is not an integer of at least 1.
    """
    check_size("replicas", replicas)

    def fill(tensor: tf.Tensor) -> tf.Tensor:
        missing = -tf.shape(tensor)[0] % replicas
        return tf.pad(tensor, [[0, missing], *[[0, 0]] * (tensor.shape.rank - 1)])

    return dataset.map(lambda *batch: tf.nest.map_structure(fill, batch), tf.data.AUTOTUNE)


def part_of_batches(dataset: tf.data.Dataset, parts: int, part: int) -> tf.data.Dataset:
    """Take a part of the rows of each batch, for one of several processes.

    Each process reads all batches, in the same order, and keeps its rows. So the batches do not
    depend on the number of processes, and all processes get the same number of batches with the
    same shapes.

    Args:
        dataset: Dataset from `split_evenly`, with a multiple of `parts` as the number of rows.
        parts: Number of parts.
        part: Number of the part, counted from 0.

    Returns:
        A dataset with the same structure and number of batches.

    Raises:
        ValueError: If `part` is out of range.
    """
    if not 0 <= part < parts:
        raise ValueError(f"Expected a part from 0 to parts - 1. Received: {part=}, {parts=}.")

    def rows(tensor: tf.Tensor) -> tf.Tensor:
        size = tf.shape(tensor)[0] // parts
        return tensor[part * size : (part + 1) * size]

    return dataset.map(lambda *batch: tf.nest.map_structure(rows, batch), tf.data.AUTOTUNE)
