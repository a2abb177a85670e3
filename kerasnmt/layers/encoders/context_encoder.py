"""Encoder of a source and a context."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.attention.masked_softmax import masked_softmax
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.encoders.encoder import Encoder


@keras.saving.register_keras_serializable("kerasnmt")
class ContextEncoder(Encoder):
    """Encoder of a source and a context, whose context annotations depend on the source.

    One recurrent layer reads each text separately. Then each word of the context attends to the
    words of the source, or to none of them. A second recurrent layer reads the context together
    with the results f_i of this attention:

        h^q = layer(source),    h^c = layer(context)
        a_{i,0}, a_i = softmax_j(0, h^c_i . h^q_1 / sqrt(n), h^c_i . h^q_2 / sqrt(n), ...)
        f_i = sum_j a_{i,j} h^q_j
        source annotations h^q,    context annotations context_layer([h^c_i; f_i; h^c_i * f_i])

    Source: McCann, Keskar, Xiong and Socher (2018), "The natural language decathlon", section 3:
    independent encoding, alignment with dummy words (zeros here) and compression. The paper aligns
    both texts with each other and adds self-attention; here, only the context attends to the
    source. The product h^c_i * f_i is from Seo, Kembhavi, Farhadi and Hajishirzi (2017),
    "Bidirectional attention flow for machine comprehension", section 2.

    Args:
        embedding: `keras.layers.Embedding` of both texts, or None if the words are already
            embedded, for example by the decoder's shared embedding.
        layer: Recurrent layer that reads each text, for example
            `BidirectionalLayer(GRUCell(units))`.
        context_layer: Recurrent layer that reads the context with the results f_i. It has the same
            number of units as `layer`.
        dropout: Dropout rate of the inputs of each layer, in [0, 1).
        context_dropout: Dropout rate of the annotations of both texts, in [0, 1).

    Raises:
        ValueError: If the layers differ in units.
    """

    reads = ("source_ids", "context_ids")

    def __init__(
        self,
        embedding: keras.layers.Layer | None,
        layer: keras.layers.Layer,
        context_layer: keras.layers.Layer,
        dropout: float = 0.0,
        context_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if layer.units != context_layer.units:
            raise ValueError(
                "Expected layer and context_layer with the same number of units. "
                f"Received: {layer.units} and {context_layer.units} units."
            )
        self.embedding = embedding
        self.layer = layer
        self.context_layer = context_layer
        self.dropout = dropout
        self.context_dropout = context_dropout
        self.state_size = [layer.state_size]
        self.memory_units = layer.units
        dtype = self.dtype_policy
        self.words_dropout = ByteDropout(dropout, dtype=dtype, name="words_dropout")
        self.found_dropout = ByteDropout(dropout, dtype=dtype, name="found_dropout")
        self.annotation_dropout = ByteDropout(
            context_dropout, dtype=dtype, name="annotation_dropout"
        )

    def build(
        self,
        source_ids_shape: tuple,
        context_ids_shape: tuple,
        embedded_source_shape: tuple | None = None,
        embedded_context_shape: tuple | None = None,
    ) -> None:
        """Create the weights.

        Args:
            source_ids_shape: `(batch, source_length)`.
            context_ids_shape: `(batch, context_length)`.
            embedded_source_shape: `(batch, source_length, features)`, for an encoder without an
                embedding.
            embedded_context_shape: `(batch, context_length, features)`, for an encoder without an
                embedding.
        """
        units = self.build_embedding(embedded_source_shape)
        build_once(self.layer, (*source_ids_shape, units))
        build_once(self.context_layer, (*context_ids_shape, 3 * self.memory_units))

    def call(
        self,
        source_ids: Any,
        context_ids: Any,
        embedded_source: Any = None,
        embedded_context: Any = None,
        training: bool = False,
    ) -> tuple[dict[str, Any], dict[str, Any], list]:
        """Read both texts.

        Args:
            source_ids: Int32 `[batch, source_length]`, right-padded with 0.
            context_ids: Int32 `[batch, context_length]`, right-padded with 0.
            embedded_source: Embedded words of the source, `[batch, source_length, features]`, for
                an encoder without an embedding.
            embedded_context: Embedded words of the context, `[batch, context_length, features]`,
                for an encoder without an embedding.
            training: Whether dropout applies.

        Returns:
            The annotations, a dict of `source`, `[batch, source_length, memory_units]`, and
            `context`, `[batch, context_length, memory_units]`; their masks, a dict of boolean
            tensors, True = real token; and the last states of the source, nested as in
            `RecurrentEncoder.call`.

        Raises:
            ValueError: If the words are already embedded and the encoder has an embedding, or
                neither.
        """
        self.check_embedded(embedded_source is not None)
        source_mask, context_mask = (
            ops.not_equal(ids, PAD_ID) for ids in (source_ids, context_ids)
        )
        if self.embedding is not None:
            embedded_source = self.embedding(source_ids)
            embedded_context = self.embedding(context_ids)
        source, states = self.layer(
            self.words_dropout(embedded_source, training=training),
            source_mask=source_mask,
            training=training,
        )
        context, _ = self.layer(
            self.words_dropout(embedded_context, training=training),
            source_mask=context_mask,
            training=training,
        )
        attended = _attended(context, source, source_mask)
        features = ops.concatenate([context, attended, context * attended], axis=-1)
        context, _ = self.context_layer(
            self.found_dropout(features, training=training),
            source_mask=context_mask,
            training=training,
        )
        memory = {
            name: self.annotation_dropout(annotations, training=training)
            for name, annotations in (("source", source), ("context", context))
        }
        return memory, {"source": source_mask, "context": context_mask}, [states]

    def attended_mask(self, mask: dict[str, Any]) -> Any:
        """Return the mask of the source; see `Encoder`."""
        return mask["source"]


def _attended(context: Any, source: Any, source_mask: Any) -> Any:
    """Return f_i of each word of the context, `[batch, context_length, units]`."""
    scores = ops.matmul(context, ops.transpose(source, (0, 2, 1)))
    scores = ops.cast(scores, "float32") / source.shape[-1] ** 0.5
    # The first score, 0, belongs to no word.
    scores = ops.pad(scores, ((0, 0), (0, 0), (1, 0)))
    mask = ops.pad(ops.cast(source_mask, "int32"), ((0, 0), (1, 0)), constant_values=1)
    return weighted_sum(masked_softmax(scores, mask[:, None] > 0)[..., 1:], source)
