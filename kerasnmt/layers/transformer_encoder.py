"""The Transformer's encoder."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.check_embedded import check_embedded
from kerasnmt.layers.composite import Composite


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerEncoder(Composite, keras.layers.Layer):
    """Embedded words with their positions, in a stack of self-attention.

    Embeddings are multiplied by the root of their size, see section 3.4 of the source; they should
    begin with a standard deviation of one over that root, so that words are as large as positions.

    Source: Vaswani et al. (2017), "Attention is all you need", sections 3.1, 3.4 and 3.5.

    Args:
        embedding: `keras.layers.Embedding` of the source vocabulary; None where the words come
            embedded, as from a decoder whose embeddings are shared.
        positions: `SinusoidalPositions()` or `LearnedPositions(max_length)`.
        layers: `TransformerEncoderLayer`s, from the words up.
        normalization: a layer after the last one, such as `keras.layers.LayerNormalization`, for
            layers with `PreNorm`; None for those with `PostNorm`, whose outputs are normalized.
        dropout: share of the features of words and positions that is dropped in training, in
            [0, 1).
    """

    # Of the inputs of a model, those that `call` takes, in order.
    reads = ("source_ids",)

    def __init__(
        self,
        embedding: keras.layers.Layer | None,
        positions: keras.layers.Layer,
        layers: Sequence[keras.layers.Layer],
        normalization: keras.layers.Layer | None = None,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.embedding = embedding
        self.positions = positions
        self.layers = list(layers)
        self.normalization = normalization
        self.dropout = dropout
        self.memory_units = layers[-1].units
        # Of the states that `call` returns.
        self.state_size = [[[self.memory_units]]]
        self.words_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy, name="words_dropout"
        )

    def build(self, source_ids_shape: tuple, embedded_shape: tuple | None = None) -> None:
        """Make the weights.

        Args:
            source_ids_shape: `(batch, source_length)`.
            embedded_shape: `(batch, source_length, units)`, without an embedding of its own.
        """
        check_embedded(self.embedding, embedded_shape is not None)
        if self.embedding is not None:
            build_once(self.embedding)
        words_shape = (*source_ids_shape, self.memory_units)
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
            source_ids: int32 `[batch, source_length]`, right-padded with 0.
            embedded: their embeddings, `[batch, source_length, units]`, for an encoder without an
                embedding of its own.
            training: whether dropout applies.

        Returns:
            memory `[batch, source_length, units]`; its mask, boolean `[batch, source_length]`,
            True = real token; and, for a bridge to a recurrent decoder, the mean of the memory's
            real positions as the one state `[batch, units]` of one layer and direction.

        Raises:
            ValueError: embedded words come to an encoder with an embedding, or none to one without.
        """
        check_embedded(self.embedding, embedded is not None)
        mask = ops.not_equal(source_ids, PAD_ID)
        words = embedded if self.embedding is None else self.embedding(source_ids)
        memory = self.positions(words * self.memory_units**0.5)
        memory = self.words_dropout(memory, training=training)
        for layer in self.layers:
            memory = layer(memory, source_mask=mask, training=training)
        if self.normalization is not None:
            memory = self.normalization(memory)
        real = ops.cast(mask, memory.dtype)[..., None]
        mean = ops.sum(real * memory, axis=1) / ops.maximum(ops.sum(real, axis=1), 1)
        return memory, mask, [[[mean]]]
