"""Word dropout."""

import tensorflow as tf

from kerasnmt.ids import END_ID, UNKNOWN_ID


def word_dropout(
    dataset: tf.data.Dataset,
    rate: float,
    *,
    vocabulary_size: int | None = None,
    seed: int = 0,
    first_batch: int = 0,
) -> tf.data.Dataset:
    """Replace random words of sources and of decoder inputs by the unknown id.

    Start, end and padding stay. The targets and all other tensors of a batch do not change.

    A model that copies learns to copy from words outside the vocabulary. With `vocabulary_size`, a
    dropped word of a source is such a word in its whole pair: its extended id stands in
    `extended_source_ids` and in the targets, and no other word is dropped.

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
    types, as this function does with `vocabulary_size`; otherwise it drops single words.

    Args:
        dataset: Dataset of `(inputs, targets, sample_weight)` from `batches`.
        rate: Dropout rate of words, in [0, 1).
        vocabulary_size: Size of the vocabulary of a model that copies. The dataset must then come
            from `batches(…, extended_vocabulary=True)`.
        seed: Seed of the dropped words.
        first_batch: Number of the first batch of the dataset.

    Returns:
        A dataset with the same shapes.

    Raises:
        ValueError: If `rate` is out of range, or the dataset has no extended ids although there is
            a `vocabulary_size`.
    """
    if not 0.0 <= rate < 1.0:
        raise ValueError(f"Expected 0 <= rate < 1; a usual value is 0.1. Received: rate={rate}")
    if not rate:
        return dataset

    if vocabulary_size is not None and "extended_source_ids" not in dataset.element_spec[0]:
        raise ValueError(
            "Expected batches with extended ids, from batches(…, extended_vocabulary=True). "
            f"Received: {vocabulary_size=} and inputs {sorted(dataset.element_spec[0])}."
        )

    def drop(number: tf.Tensor, batch: tuple[dict[str, tf.Tensor], ...]) -> tuple:
        inputs, *rest = batch
        if vocabulary_size is not None:
            inputs, targets = _hide(inputs, rest[0], rate, vocabulary_size, [seed, number])
            return inputs, targets, *rest[1:]
        dropped = {}
        for side, name in enumerate(("source_ids", "target_ids")):
            ids = inputs[name]
            uniform = tf.random.stateless_uniform(tf.shape(ids), seed=[seed, 2 * number + side])
            dropped[name] = tf.where((uniform < rate) & (ids > END_ID), UNKNOWN_ID, ids)
        return inputs | dropped, *rest

    return dataset.enumerate(first_batch).map(drop, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def _hide(
    inputs: dict[str, tf.Tensor],
    targets: tf.Tensor,
    rate: float,
    vocabulary_size: int,
    seed: list,
) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """Make random words of the source and context unknown in the whole row.

    The extended id of a word becomes the vocabulary size plus the first position of the word, also
    for words that were unknown before.
    """
    sides = [name.removeprefix("extended_") for name in inputs if name.startswith("extended_")]
    ids = tf.concat([inputs[f"extended_{side}"] for side in sides], axis=1)
    first = tf.argmax(ids[:, :, tf.newaxis] == ids[:, tf.newaxis], axis=2, output_type=tf.int32)
    uniform = tf.random.stateless_uniform(tf.shape(ids), seed=seed)
    dropped = (tf.gather(uniform, first, batch_dims=1) < rate) & (ids > END_ID)
    extended = tf.where(dropped | (ids >= vocabulary_size), vocabulary_size + first, ids)

    same = (targets[:, :, tf.newaxis] == ids[:, tf.newaxis]) & (targets > END_ID)[:, :, tf.newaxis]
    found = tf.gather(extended, tf.argmax(same, axis=2), batch_dims=1)
    targets = tf.where(tf.reduce_any(same, axis=2), found, targets)
    unknown = dropped[:, tf.newaxis] & (inputs["target_ids"][:, :, tf.newaxis] == ids[:, tf.newaxis])
    hidden = {
        "target_ids": tf.where(tf.reduce_any(unknown, axis=2), UNKNOWN_ID, inputs["target_ids"])
    }
    lengths = [tf.shape(inputs[side])[1] for side in sides]
    for side, is_dropped, new in zip(
        sides, tf.split(dropped, lengths, 1), tf.split(extended, lengths, 1), strict=True
    ):
        hidden[side] = tf.where(is_dropped, UNKNOWN_ID, inputs[side])
        hidden[f"extended_{side}"] = new
    return inputs | hidden, targets
