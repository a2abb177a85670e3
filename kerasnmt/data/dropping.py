"""Word dropout."""

import tensorflow as tf

from kerasnmt.ids import END_ID, UNKNOWN_ID


def word_dropout(
    dataset: tf.data.Dataset, rate: float, *, seed: int = 0, first_batch: int = 0
) -> tf.data.Dataset:
    """Replace random words of sources and of decoder inputs by the unknown id.

    Start, end and padding stay. The targets, `extended_source_ids` and all other tensors of a batch
    do not change.

    The dropped words depend only on the seed and the number of the batch. So training that resumes
    at batch k with `first_batch=k` drops the same words as without interruption. Each pass over the
    dataset counts its batches from the start. To drop other words in each epoch, repeat the dataset
    first.

    ```python
    train = word_dropout(batches(pairs, tokenizer).repeat(), 0.1, seed=1)
    model.fit(train, steps_per_epoch=1000, epochs=10)
    ```

    Source: Bowman et al. (2016), "Generating sentences from a continuous space", section 3.1, for
    the decoder's inputs; Gal and Ghahramani (2016), "A theoretically grounded application of
    dropout in recurrent neural networks", section 4.2, for both sides. The second paper drops word
    types; this function drops single words.

    Args:
        dataset: Dataset of `(inputs, targets, sample_weight)` from `batches`.
        rate: Dropout rate of words, in [0, 1).
        seed: Seed of the dropped words.
        first_batch: Number of the first batch of the dataset.

    Returns:
        A dataset with the same shapes.

    Raises:
        ValueError: If `rate` is out of range.
    """
    if not 0.0 <= rate < 1.0:
        raise ValueError(f"Expected 0 <= rate < 1; a usual value is 0.1. Received: rate={rate}")
    if not rate:
        return dataset

    def drop(number: tf.Tensor, batch: tuple[dict[str, tf.Tensor], ...]) -> tuple:
        inputs, *rest = batch
        dropped = {}
        for side, name in enumerate(("source_ids", "target_ids")):
            ids = inputs[name]
            uniform = tf.random.stateless_uniform(tf.shape(ids), seed=[seed, 2 * number + side])
            dropped[name] = tf.where((uniform < rate) & (ids > END_ID), UNKNOWN_ID, ids)
        return inputs | dropped, *rest

    return dataset.enumerate(first_batch).map(drop, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
