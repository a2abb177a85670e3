"""One layer of a Transformer's encoder."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.composite import Composite


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerEncoderLayer(Composite, keras.layers.Layer):
    """Self-attention, then a feed-forward block, each with a way around it.

    Source: Vaswani et al. (2017), section 3.1.

    Args:
        attention: `MultiHeadAttention`.
        feed_forward: `FeedForward` of the same units.
        residuals: two of `PreNorm` or `PostNorm`, around the one and the other.
    """

    def __init__(
        self,
        attention: keras.layers.Layer,
        feed_forward: keras.layers.Layer,
        residuals: Sequence[keras.layers.Layer],
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.attention = attention
        self.feed_forward = feed_forward
        self.residuals = list(residuals)
        self.units = feed_forward.units

    def build(self, words_shape: tuple) -> None:
        """Make the weights for words `(batch, source_length, units)`."""
        build_once(self.attention, words_shape, words_shape)
        build_once(self.feed_forward, words_shape)
        for residual in self.residuals:
            build_once(residual, words_shape)

    def call(
        self, words: Any, source_mask: Any = None, mask: Any = None, training: bool = False
    ) -> Any:
        """Let the words of a source hear each other.

        Args:
            words: `[batch, source_length, units]`.
            source_mask: boolean `[batch, source_length]`, True = real token. If it is None,
                `mask` is used.
            mask: boolean `[batch, source_length]`, which Keras passes: the mask that the words
                carry.
            training: whether dropout applies.

        Returns:
            `[batch, source_length, units]`.
        """
        if source_mask is None:
            source_mask = mask
        around_attention, around_feed_forward = self.residuals
        heard = around_attention.before(words)
        context, _ = self.attention(heard, heard, memory_mask=source_mask, training=training)
        words = around_attention.after(words, context, training)
        outputs = self.feed_forward(around_feed_forward.before(words))
        return around_feed_forward.after(words, outputs, training)
