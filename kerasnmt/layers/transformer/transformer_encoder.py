"""Encoder of the Transformer."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.encoders.encoder import Encoder


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerEncoderLayer(Composite, keras.layers.Layer):
    """Layer of a Transformer encoder, with residual connections around its two parts.

    The parts are self-attention and a feed-forward block.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.1.

    Args:
        attention: `MultiHeadSelfAttention`.
        feed_forward: `FeedForward` with the same units.
        residuals: Two `PreNorm` or `PostNorm`, one for each of the above parts.
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
        """Create the weights for words `(batch, source_length, units)`."""
        build_once(self.attention, words_shape)
        build_once(self.feed_forward, words_shape)
        for residual in self.residuals:
            build_once(residual, words_shape)

    def call(
        self, words: Any, source_mask: Any = None, mask: Any = None, training: bool = False
    ) -> Any:
        """Encode the words of a source.

        Args:
            words: `[batch, source_length, units]`.
            source_mask: Boolean `[batch, source_length]`, True = real token. If None, `mask` is
                used.
            mask: Mask of the words, boolean `[batch, source_length]`, which Keras passes.
            training: Whether dropout applies.

        Returns:
            `[batch, source_length, units]`.
        """
        if source_mask is None:
            source_mask = mask
        around_attention, around_feed_forward = self.residuals
        query = around_attention.before(words)
        context, _ = self.attention(query, mask=source_mask, training=training)
        words = around_attention.after(words, context, training)
        outputs = self.feed_forward(around_feed_forward.before(words))
        return around_feed_forward.after(words, outputs, training)


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerEncoder(Encoder):
    """Encoder of the Transformer.

    Embeddings are multiplied by the square root of their size; see section 3.4 of the paper. They
    should start with a standard deviation of 1 divided by this root, so that words are as large as
    positions.

    Source: Vaswani et al. (2017), "Attention is all you need", sections 3.1, 3.4 and 3.5.

    Args:
        embedding: `keras.layers.Embedding` of the source vocabulary, or None if the words are
            already embedded, for example by the decoder's shared embedding.
        positions: `SinusoidalPositions()` or `LearnedPositions(max_length)`.
        layers: `TransformerEncoderLayer`s, from bottom to top.
        normalization: Layer after the last of `layers`: `LayerNormalization` if they use `PreNorm`,
            None if they use `PostNorm`, which normalizes its outputs.
        dropout: Dropout rate of the sums of words and positions, in [0, 1).
        tags: `TagFeatures(..., merge="sum")`, or None to read tags as all other tokens. With it,
            tags have position 0, and the other tokens count from 1.

    Raises:
        ValueError: If the features of tags are not summed.
    """

    def __init__(
        self,
        embedding: keras.layers.Layer | None,
        positions: keras.layers.Layer,
        layers: Sequence[keras.layers.Layer],
        normalization: keras.layers.Layer | None = None,
        dropout: float = 0.0,
        tags: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if tags is not None and tags.merge != "sum":
            raise ValueError(
                'Expected tags with merge="sum" in a Transformer, which keeps the size of words. '
                f"Received: merge={tags.merge!r}"
            )
        self.embedding = embedding
        self.positions = positions
        self.layers = list(layers)
        self.normalization = normalization
        self.dropout = dropout
        self.tags = tags
        self.memory_units = layers[-1].units
        self.state_size = [[[self.memory_units]]]
        self.words_dropout = ByteDropout(dropout, dtype=self.dtype_policy, name="words_dropout")

    def build(self, source_ids_shape: tuple, embedded_shape: tuple | None = None) -> None:
        """Create the weights.

        Args:
            source_ids_shape: `(batch, source_length)`.
            embedded_shape: `(batch, source_length, units)`, for an encoder without an embedding.
        """
        self.build_embedding(embedded_shape)
        words_shape = (*source_ids_shape, self.memory_units)
        if self.tags is not None:
            build_once(self.tags, words_shape)
        build_once(self.positions, words_shape)
        for layer in self.layers:
            build_once(layer, words_shape)
        if self.normalization is not None:
            build_once(self.normalization, words_shape)

    def call(
        self, source_ids: Any, embedded: Any = None, training: bool = False
    ) -> tuple[Any, Any, list]:
        """Read the source.

        Args:
            source_ids: Int32 `[batch, source_length]`, right-padded with 0.
            embedded: Embedded words, `[batch, source_length, units]`, for an encoder without an
                embedding.
            training: Whether dropout applies.

        Returns:
            The annotations, `[batch, source_length, units]`; their mask, boolean
            `[batch, source_length]`, True = real token; and the last states for a bridge to a
            recurrent decoder, which are the mean of the annotations without padding,
            `[batch, units]`, nested as the state of one layer with one direction.

        Raises:
            ValueError: If the words are already embedded and the encoder has an embedding, or
                neither.
        """
        self.check_embedded(embedded is not None)
        mask = ops.not_equal(source_ids, PAD_ID)
        words = embedded if self.embedding is None else self.embedding(source_ids)
        position = None
        if self.tags is not None:
            words, position = self.tags(words, source_ids), self.tags.positions(source_ids)
            self.positions.check_length(ops.shape(source_ids)[1] + 1)  # with position 0
        memory = self.positions(words * self.memory_units**0.5, position)
        memory = self.words_dropout(memory, training=training)
        for layer in self.layers:
            memory = layer(memory, source_mask=mask, training=training)
        if self.normalization is not None:
            memory = self.normalization(memory)
        real = ops.cast(mask, memory.dtype)[..., None]
        mean = ops.sum(real * memory, axis=1) / ops.maximum(ops.sum(real, axis=1), 1)
        return memory, mask, [[[mean]]]
