"""Batches for several devices."""

import tensorflow as tf


def split_evenly(dataset: tf.data.Dataset, replicas: int) -> tf.data.Dataset:
    """Fills batches up with rows of padding, so that each of several devices gets as many rows.

    A `tf.distribute` strategy divides the rows of a batch, and Keras fails where a device gets
    fewer of them than another. Rows of padding have no words and change neither the losses, nor
    the weights, nor the perplexity.

    ```python
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = bahdanau_gru(tokenizer)
        model.compile("adam")
    train = split_evenly(batches(pairs, tokenizer), strategy.num_replicas_in_sync)
    model.fit(train, epochs=10, shuffle=False)
    ```

    Args:
        dataset: What `batches` gives.
        replicas: The number of devices.

    Returns:
        A dataset of the same structure and number of batches, the rows of each a multiple of
        `replicas`.

    Raises:
        ValueError: If `replicas` is below 1.
    """
    if replicas < 1:
        raise ValueError(f"Expected at least 1 replica. Received: replicas={replicas}.")

    def fill(tensor: tf.Tensor) -> tf.Tensor:
        missing = -tf.shape(tensor)[0] % replicas
        return tf.pad(tensor, [[0, missing], *[[0, 0]] * (tensor.shape.rank - 1)])

    return dataset.map(lambda *batch: tf.nest.map_structure(fill, batch), tf.data.AUTOTUNE)
