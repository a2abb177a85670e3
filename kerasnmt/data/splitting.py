"""Batches for several devices."""

import tensorflow as tf


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
        ValueError: If `replicas` is below 1.
    """
    if replicas < 1:
        raise ValueError(f"Expected at least 1 replica. Received: replicas={replicas}.")

    def fill(tensor: tf.Tensor) -> tf.Tensor:
        missing = -tf.shape(tensor)[0] % replicas
        return tf.pad(tensor, [[0, missing], *[[0, 0]] * (tensor.shape.rank - 1)])

    return dataset.map(lambda *batch: tf.nest.map_structure(fill, batch), tf.data.AUTOTUNE)
