"""Word dropout."""

from collections.abc import Sequence

import tensorflow as tf

from kerasnmt.ids import END_ID, UNKNOWN_ID, extended


def word_dropout(
    dataset: tf.data.Dataset,
    rate: float,
    *,
    vocabulary_size: int | None = None,
    kept_ids: Sequence[int] = (),
    seed: int = 0,
    first_batch: int = 0,
) -> tf.data.Dataset:
    """Replace random words of sources and of decoder inputs by the unknown id.

    Start, end and padding stay. The targets and all other tensors of a batch do not change.

    A model that copies learns to copy from words outside the vocabulary. With `vocabulary_size`, a
    dropped word of a source is outside the vocabulary for its whole pair: its extended id stands in
    `extended_source_ids` and in the targets. No other words are dropped.

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
        kept_ids: Ids of a source that are never dropped, such as `Tokenizer.tag_ids`.
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

    if vocabulary_size is not None and extended("source_ids") not in dataset.element_spec[0]:
        raise ValueError(
            "Expected batches with extended ids, from batches(…, extended_vocabulary=True). "
            f"Received: {vocabulary_size=} and inputs {sorted(dataset.element_spec[0])}."
        )

    def drop(number: tf.Tensor, batch: tuple[dict[str, tf.Tensor], ...]) -> tuple:
        inputs, *rest = batch
        if vocabulary_size is not None:
            seeds = [seed, number]
            inputs, targets = _hide(inputs, rest[0], rate, vocabulary_size, kept_ids, seeds)
            return inputs, targets, *rest[1:]
        dropped = {}
        for side, (name, kept) in enumerate((("source_ids", kept_ids), ("target_ids", ()))):
            ids = inputs[name]
            uniform = tf.random.stateless_uniform(tf.shape(ids), seed=[seed, 2 * number + side])
            dropped[name] = tf.where((uniform < rate) & _are_words(ids, kept), UNKNOWN_ID, ids)
        return inputs | dropped, *rest

    return dataset.enumerate(first_batch).map(drop, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def _hide(
    inputs: dict[str, tf.Tensor],
    targets: tf.Tensor,
    rate: float,
    vocabulary_size: int,
    kept_ids: Sequence[int],
    seed: list,
) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """Make random words of the source and the context unknown in the whole row.

    The extended id of a word becomes the vocabulary size plus the first position of the word, also
    if it was unknown before.
    """
    names = [name for name in inputs if extended(name) in inputs]
    lengths = [tf.shape(inputs[name])[1] for name in names]
    ids = tf.concat([inputs[extended(name)] for name in names], axis=1)
    first = tf.argmax(_equal(ids, ids), axis=2, output_type=tf.int32)
    uniform = tf.random.stateless_uniform(tf.shape(ids), seed=seed)
    dropped = (tf.gather(uniform, first, batch_dims=1) < rate) & _are_words(ids, kept_ids)
    changed = tf.where(dropped | (ids >= vocabulary_size), vocabulary_size + first, ids)

    in_source = _equal(targets, ids) & (targets > END_ID)[:, :, tf.newaxis]
    copied = tf.gather(changed, tf.argmax(in_source, axis=2), batch_dims=1)
    fed = inputs["target_ids"]
    unknown = tf.reduce_any(_equal(fed, ids) & dropped[:, tf.newaxis], axis=2)
    hidden = {"target_ids": tf.where(unknown, UNKNOWN_ID, fed)}
    parts = zip(names, tf.split(dropped, lengths, 1), tf.split(changed, lengths, 1), strict=True)
    for name, dropped_here, changed_here in parts:
        hidden[name] = tf.where(dropped_here, UNKNOWN_ID, inputs[name])
        hidden[extended(name)] = changed_here
    return inputs | hidden, tf.where(tf.reduce_any(in_source, axis=2), copied, targets)


def _are_words(ids: tf.Tensor, kept_ids: Sequence[int]) -> tf.Tensor:
    """Return whether each id may be dropped."""
    kept = tf.constant([*range(END_ID + 1), *kept_ids])
    return tf.reduce_all(ids[..., tf.newaxis] != kept, axis=-1)


def _equal(one: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
    """Compare each position of one with each of the other, boolean `[batch, one, other]`."""
    return one[:, :, tf.newaxis] == other[:, tf.newaxis]
