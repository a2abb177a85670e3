"""Batches that are padded to a few shapes."""

import tensorflow as tf


class Filling:
    """Padding of batches to a few shapes, because XLA compiles for each shape.

    All axes except the first are padded to one of a few widths. Then rows of padding give all
    batches of one width the same number of rows.

    Args:
        widths: Widths, ascending. The last width is the maximum number of tokens of a text.
        tokens_per_batch: Maximum number of positions of the widest side of a batch.
        batch_size: Number of rows of a batch, or None to derive it from `tokens_per_batch`.
    """

    def __init__(self, widths: list[int], tokens_per_batch: int, batch_size: int | None) -> None:
        # The narrowest batch of a width is one position wider than the previous width.
        narrowest = [widths[0], *(width + 1 for width in widths[:-1])]
        rows = [batch_size or max(tokens_per_batch // width, 1) for width in narrowest]
        self.widths = tf.constant(widths)
        self.rows = tf.constant(rows)

    def fill(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Pad all tensors of a batch, `[rows]`, `[rows, width]` or `[rows, width, width]`."""
        places = {
            name: tf.searchsorted(self.widths, tf.shape(tensor)[1:])
            for name, tensor in batch.items()
        }
        rows = self.rows[tf.reduce_max(tf.concat([*places.values()], 0))]
        filled = {}
        for name, tensor in batch.items():
            shape = tf.concat([[rows], tf.gather(self.widths, places[name])], 0)
            missing = shape - tf.shape(tensor)
            filled[name] = tf.pad(tensor, tf.stack([tf.zeros_like(missing), missing], axis=1))
        return filled
