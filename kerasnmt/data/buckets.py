"""Buckets of pairs with similar lengths, and batches made from them."""

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from kerasnmt.data.batch_options import BatchOptions

# Number of batches whose pairs are sorted together with `few_shapes=False`.
_SORTED_TOGETHER = 16


class Buckets:
    """Buckets of pairs with similar lengths, for padded batches.

    A bucket has a width for each text of its pairs. One number encodes these widths, and `sides`
    decodes it.

    Args:
        options: Options of the batches. With `few_shapes`, each batch is as wide as its bucket;
            without, each side is as wide as its longest text.
        with_contexts: Whether pairs have contexts.
    """

    def __init__(self, options: BatchOptions, *, with_contexts: bool) -> None:
        self.options = options
        self.with_contexts = with_contexts
        # With contexts, there are fewer widths, because each combination of two widths is a bucket.
        least, parts = (2, 10) if with_contexts else (1, 20)
        self.widths = tf.constant(growing_widths(options.max_length, least, parts))

    @property
    def mixed(self) -> int:
        """Number of batches that are shuffled together."""
        return 64 if self.options.few_shapes else 32 * _SORTED_TOGETHER

    def batches(self, pairs: tf.data.Dataset) -> tf.data.Dataset:
        """Return a dataset of padded batches. It yields each batch as soon as the batch is full.

        Args:
            pairs: Dataset of dicts of int32 `[length]`, with `source_ids` and `targets`, and
                optionally `extended_source_ids`, `context_ids`, `extended_context_ids`,
                `alignments`, `[target_length, source_length]`, and `weight`, a scalar.

        Returns:
            A dataset of the same dicts, where each tensor has a first axis of rows.
        """
        return pairs.group_by_window(self._bucket_of, self._pad, window_size_func=self._window_size)

    def sides(self, bucket: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Return the widths of sources, targets and contexts."""
        most = self.options.max_length + 1
        sides, target = bucket // most, bucket % most
        return sides % most, target, sides // most

    def _bucket_of(self, pair: dict[str, tf.Tensor]) -> tf.Tensor:
        """Return the bucket of a pair, int64."""
        lengths = tf.stack([tf.size(pair["source_ids"]), tf.size(pair["targets"])])
        longest = tf.reduce_max(lengths)
        sides = tf.where(
            longest > 3 * tf.reduce_min(lengths),
            tf.minimum(_power_of_two(lengths), self.options.max_length),
            self._width(longest),
        )
        context = self._width(tf.size(pair["context_ids"])) if self.with_contexts else 0
        sides = (sides[0], sides[1], context)
        source, target, context = (tf.cast(side, tf.int64) for side in sides)
        most = self.options.max_length + 1
        return (context * most + source) * most + target

    def _width(self, length: tf.Tensor) -> tf.Tensor:
        """Return the smallest width for a text of this length."""
        return self.widths[tf.searchsorted(self.widths, [length])[0]]

    def _size(self, bucket: tf.Tensor) -> tf.Tensor:
        """Return the number of pairs of a batch, int64."""
        if self.options.batch_size is not None:
            return tf.constant(self.options.batch_size, tf.int64)
        widest = tf.reduce_max(tf.stack(self.sides(bucket)))
        return tf.maximum(self.options.tokens_per_batch // widest, 1)

    def _window_size(self, bucket: tf.Tensor) -> tf.Tensor:
        """Return the number of pairs that are collected before they are padded, int64."""
        return self._size(bucket) * (1 if self.options.few_shapes else _SORTED_TOGETHER)

    def _pad(self, bucket: tf.Tensor, window: tf.data.Dataset) -> tf.data.Dataset:
        """Make batches from the pairs of a window."""
        shapes = _shapes(window.element_spec, *self.sides(bucket))
        padded = window.padded_batch(self._window_size(bucket), shapes)
        if self.options.few_shapes:
            return padded
        return padded.map(_by_lengths).unbatch().batch(self._size(bucket)).map(_trimmed)


def _shapes(names: Iterable[str], source: Any, target: Any, context: Any) -> dict[str, list]:
    """Return the shapes of the tensors of a pair, from the widths of its texts."""
    shapes = {
        "source_ids": [source],
        "targets": [target],
        "extended_source_ids": [source],
        "alignments": [target, source],
        "context_ids": [context],
        "extended_context_ids": [context],
        "weight": [],
    }
    return {name: shapes[name] for name in names}


def _by_lengths(pairs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Sort padded pairs by the length of the target, then by the length of the source."""
    keys = _lengths(pairs["targets"]) * (tf.shape(pairs["source_ids"])[1] + 1)
    order = tf.argsort(keys + _lengths(pairs["source_ids"]), stable=True)
    return {name: tf.gather(values, order) for name, values in pairs.items()}


def _trimmed(pairs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Remove the positions that are padding in all pairs."""
    texts = ("source_ids", "targets", "context_ids")
    widths = [tf.reduce_max(_lengths(pairs[name])) if name in pairs else 0 for name in texts]
    shapes = _shapes(pairs, *widths)
    return {
        name: tf.slice(values, [0] * len(values.shape), [-1, *shapes[name]])
        for name, values in pairs.items()
    }


def _lengths(ids: tf.Tensor) -> tf.Tensor:
    """Return the numbers of tokens of ids `[batch, width]`, int32 `[batch]`."""
    return tf.math.count_nonzero(ids, axis=1, dtype=tf.int32)


def growing_widths(max_length: int, least: int, parts: int) -> list[int]:
    """Return widths up to `max_length` that grow by 1/`parts`, and by at least `least`."""
    widths = [min(8, max_length)]
    while widths[-1] < max_length:
        growth = max(least, -(-widths[-1] // parts))
        widths.append(min(widths[-1] + growth, max_length))
    return widths


def _power_of_two(lengths: tf.Tensor) -> tf.Tensor:
    """Round lengths, int32, up to powers of two, at least to 8."""
    powers = tf.constant([2**exponent for exponent in range(3, 31)])
    return tf.gather(powers, tf.searchsorted(powers, lengths))
