"""Batches that are padded to a few shapes."""

import tensorflow as tf

from kerasnmt.data.batch_options import BatchOptions
from kerasnmt.data.buckets import growing_widths


def fill(options: BatchOptions, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Pad a batch to one of a few shapes, because XLA compiles for each shape.

    All axes except the first are padded to one of a few widths, which grow by 1/4. Then rows of
    padding give all batches of one width the same number of rows.

    Args:
        options: Options of the batches, with their size.
        batch: Tensors `[rows]`, `[rows, width]` or `[rows, width, width]`.
    """
    widths = growing_widths(options.max_length, 1, 4)
    # The narrowest batch of a width is one position wider than the previous width.
    narrowest = [widths[0], *(width + 1 for width in widths[:-1])]
    most = [options.batch_size or max(options.tokens_per_batch // w, 1) for w in narrowest]
    index = {name: tf.searchsorted(widths, tf.shape(tensor)[1:]) for name, tensor in batch.items()}
    rows = tf.gather(most, tf.reduce_max(tf.concat([*index.values()], 0)))
    filled = {}
    for name, tensor in batch.items():
        shape = tf.concat([[rows], tf.gather(widths, index[name])], 0)
        missing = shape - tf.shape(tensor)
        filled[name] = tf.pad(tensor, tf.stack([tf.zeros_like(missing), missing], axis=1))
    return filled
