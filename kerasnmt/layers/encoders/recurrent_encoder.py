"""Recurrent encoder."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.encoders.encoder import Encoder


@keras.saving.register_keras_serializable("kerasnmt")
class RecurrentEncoder(Encoder):
    """Encoder with an embedding and a stack of recurrent layers.

    Args:
        embedding: `keras.layers.Embedding` of the source vocabulary, or None if the words are
            already embedded, for example by the decoder's shared embedding.
        layers: Recurrent layers from bottom to top, for example
            `[BidirectionalLayer(GRUCell(units))]`.
        dropout: Dropout rate of the inputs of each layer, in [0, 1).
        residual: Whether every layer except the first has a residual connection. A layer whose
            input and output differ in size has none. It is False for a single layer.
        context_dropout: Dropout rate of the annotations, in [0, 1).
        tags: `TagFeatures`, or None to read tags as all other tokens.
    """

    def __init__(
        self,
        embedding: keras.layers.Layer | None,
        layers: Sequence[keras.layers.Layer],
        dropout: float = 0.0,
        residual: bool = False,
        context_dropout: float = 0.0,
        tags: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if not layers:
            raise ValueError(f"Expected at least one recurrent layer. Received: layers={layers}")
        self.embedding = embedding
        self.layers = list(layers)
        self.dropout = dropout
        self.residual = residual and len(layers) > 1
        self.context_dropout = context_dropout
        self.tags = tags
        self.state_size = [layer.state_size for layer in reversed(layers)]
        self.memory_units = layers[-1].units
        self.dropouts = [
            ByteDropout(dropout, dtype=self.dtype_policy, name=f"dropout_{number}")
            for number, _ in enumerate(layers)
        ]
        self.annotation_dropout = ByteDropout(
            context_dropout, dtype=self.dtype_policy, name="annotation_dropout"
        )

    def build(self, source_ids_shape: tuple, embedded_shape: tuple | None = None) -> None:
        """Create the weights.

        Args:
            source_ids_shape: `(batch, source_length)`.
            embedded_shape: `(batch, source_length, features)`, for an encoder without an embedding.
        """
        units = self.build_embedding(embedded_shape)
        if self.tags is not None:
            words_shape = (*source_ids_shape, units)
            build_once(self.tags, words_shape)
            units = self.tags.compute_output_shape(words_shape, source_ids_shape)[-1]
        for layer in self.layers:
            build_once(layer, (*source_ids_shape, units))
            units = layer.units

    def call(
        self, source_ids: Any, embedded: Any = None, training: bool = False
    ) -> tuple[Any, Any, list]:
        """Read the source.

        Args:
            source_ids: Int32 `[batch, source_length]`, right-padded with 0.
            embedded: Embedded words, `[batch, source_length, features]`, for an encoder without an
                embedding.
            training: Whether dropout applies.

        Returns:
            The annotations, `[batch, source_length, memory_units]`; their mask, boolean
            `[batch, source_length]`, True = real token; and the last states: for each layer, from
            top to bottom, and each direction, a list of the cell's states, `[batch, size]` each.
            These are the states after the last real word or, in the backward direction, after the
            first word.

        Raises:
            ValueError: If the words are already embedded and the encoder has an embedding, or
                neither.
        """
        self.check_embedded(embedded is not None)
        mask = ops.not_equal(source_ids, PAD_ID)
        memory = embedded if self.embedding is None else self.embedding(source_ids)
        if self.tags is not None:
            memory = self.tags(memory, source_ids)
        states: list[Any] = []
        for number, (layer, dropout) in enumerate(zip(self.layers, self.dropouts, strict=True)):
            words = dropout(memory, training=training)
            outputs, last = layer(words, source_mask=mask, training=training)
            adds = self.residual and number > 0 and memory.shape[-1] == layer.units
            memory = memory + outputs if adds else outputs
            states.insert(0, last)
        return self.annotation_dropout(memory, training=training), mask, states
