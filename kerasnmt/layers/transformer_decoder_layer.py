"""One layer of a Transformer's decoder."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.composite import Composite
from kerasnmt.layers.time_cache import TimeCache


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerDecoderLayer(Composite, keras.layers.Layer):
    """Attention to the words before, to the source, and a feed-forward block.

    `call` runs over a whole target, `step` over one position, with the keys and values of the
    positions before it in a cache; both give the same numbers.

    Source: Vaswani et al. (2017), section 3.1.

    Args:
        self_attention: `MultiHeadAttention`.
        cross_attention: another one, of the same units, that attends to the source.
        feed_forward: `FeedForward` of the same units.
        residuals: three of `PreNorm` or `PostNorm`, one around each.
    """

    def __init__(
        self,
        self_attention: keras.layers.Layer,
        cross_attention: keras.layers.Layer,
        feed_forward: keras.layers.Layer,
        residuals: Sequence[keras.layers.Layer],
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.residuals = list(residuals)
        self.units = feed_forward.units

    def build(self, words_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights.

        Args:
            words_shape: `(batch, target_length, units)`.
            memory_shape: `(batch, source_length, memory_units)`.
        """
        build_once(self.self_attention, words_shape, words_shape)
        build_once(self.cross_attention, words_shape, memory_shape)
        build_once(self.feed_forward, words_shape)
        for residual in self.residuals:
            build_once(residual, words_shape)

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for all steps: its keys, values and mask."""
        keys, values = self.cross_attention.project(memory)
        return {"keys": keys, "values": values, "memory_mask": memory_mask}

    def initial_cache(self, batch_size: Any, steps: int) -> TimeCache:
        """Make room for the keys and values of so many steps."""
        word = ops.zeros((batch_size, 1, self.units), dtype=self.compute_dtype)
        keys_and_values = self.self_attention.project(word)
        return TimeCache.allocate([one[:, :, 0] for one in keys_and_values], steps)

    def call(self, words: Any, memory: dict[str, Any], training: bool = False) -> tuple[Any, Any]:
        """Run over a whole target.

        Args:
            words: `[batch, target_length, units]`.
            memory: from `project_memory`.
            training: whether dropout applies.

        Returns:
            words `[batch, target_length, units]`; and the weights of the attention to the source,
            float32 `[batch, heads, target_length, source_length]`.
        """
        heard = self.residuals[0].before(words)
        context, _ = self.self_attention(heard, heard, causal=True, training=training)
        words = self.residuals[0].after(words, context, training)
        return self._ask_source(words, memory, training)

    def step(
        self, words: Any, cache: TimeCache, memory: dict[str, Any]
    ) -> tuple[Any, Any, TimeCache]:
        """Run over one position of several hypotheses of every row.

        Args:
            words: `[batch, hypotheses, units]`.
            cache: from `initial_cache` or the step before, with hypotheses after the batch.
            memory: from `project_memory`; shared by the hypotheses of a row, never tiled.

        Returns:
            words `[batch, hypotheses, units]`; the weights of the attention to the source, float32
            `[batch, heads, hypotheses, source_length]`; and the new cache.
        """
        shape = ops.shape(words)
        # Each hypothesis hears its own words: they are rows of one query each.
        rows = ops.reshape(self.residuals[0].before(words), (-1, 1, self.units))
        keys_and_values = [
            ops.reshape(one, (*shape[:2], *one.shape[1:2], one.shape[3]))
            for one in self.self_attention.project(rows)
        ]
        cache = cache.write(keys_and_values)
        keys, values, written = (
            ops.reshape(one, (-1, *ops.shape(one)[2:])) for one in (*cache.values, cache.mask)
        )
        context, _ = self.self_attention(rows, keys=keys, values=values, memory_mask=written)
        words = self.residuals[0].after(words, ops.reshape(context, shape))
        return *self._ask_source(words, memory), cache

    def _ask_source(
        self, words: Any, memory: dict[str, Any], training: bool = False
    ) -> tuple[Any, Any]:
        _, around_cross_attention, around_feed_forward = self.residuals
        query = around_cross_attention.before(words)
        context, weights = self.cross_attention(query, **memory, training=training)
        words = around_cross_attention.after(words, context, training)
        outputs = self.feed_forward(around_feed_forward.before(words))
        return around_feed_forward.after(words, outputs, training), weights
