"""Decoder and decoder cell that attend to a source and to a context."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.attention.base_attention import build_attention
from kerasnmt.layers.decoders.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.decoders.decoder_loop import attention_losses
from kerasnmt.layers.decoders.recurrent_decoder import RecurrentDecoder


@keras.saving.register_keras_serializable("kerasnmt")
class ContextDecoderCell(BahdanauDecoderCell):
    """One step of Bahdanau's decoder with a second attention, to a second text, the context.

        c_t = sum_i alpha_{t,i} h_i,    alpha_t = attention(s_{t-1}, h)
        k_t = sum_j beta_{t,j} g_j,     beta_t = context_attention(s_{t-1}, g)
        s_t = cell(W y_{t-1} + b + C c_t + K k_t, s_{t-1})

    The output is s_t. The weights of a step are [alpha_t; beta_t]. `ContextEncoder` computes the
    annotations h of the source and g of the context.

    Source: Stehnii (2018), "Neural attention", section "Attention over context"; McCann, Keskar,
    Xiong and Socher (2018), "The natural language decathlon", section 3, where the decoder attends
    with s_t and uses input feeding, like Luong's decoder.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: Attention to the source, for example `BahdanauAttention(units)`.
        context_attention: Attention to the context, another such layer.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: If an attention has coverage or a window that moves with the target.
    """

    value_names = ("values", "context_values")

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        context_attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, attention, state_dropout, **kwargs)
        for name, one in (("attention", attention), ("context_attention", context_attention)):
            if one.history:
                raise ValueError(
                    "Expected attentions without coverage and without windows that move with the "
                    f"target. Received: {name} with history={one.history}. Use "
                    "BahdanauDecoderCell, which attends only to the source."
                )
        self.context_attention = context_attention
        self.second_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="second_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights.

        Args:
            input_shape: `(..., features)` of the embedded target.
            memory_shape: `(batch, length, memory_units)` of the source and of the context.
        """
        super().build(input_shape, memory_shape)
        build_attention(self.context_attention, (None, self.cell.units), memory_shape)
        self.second_projection.build(memory_shape)

    def project_memory(
        self, annotations: dict[str, Any], memory_mask: dict[str, Any]
    ) -> dict[str, Any]:
        """Compute the keys of both texts, and the values C h_i and K g_j, once per source.

        Args:
            annotations: `source` and `context`, `[batch, length, memory_units]` each.
            memory_mask: `source` and `context`, boolean `[batch, length]`, True = real token.
        """
        return {
            **super().project_memory(annotations["source"], memory_mask["source"]),
            "context_keys": self.context_attention.project(annotations["context"]),
            "context_values": self.second_projection(annotations["context"]),
            "context_mask": memory_mask["context"],
        }

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step; see `DecoderCell`."""
        source = {name: memory[name] for name in ("keys", "values", "memory_mask")}
        context, context_weights = self.context_attention(
            state.cell[0], memory["context_keys"], memory["context_values"], memory["context_mask"]
        )
        output, weights, state = super().step(inputs + context, state, source)
        return output, ops.concatenate([weights, context_weights], axis=-1), state

    def _factors(self, output: Any, weights: Any, memory: dict[str, Any]) -> list[Any]:
        """Return alpha_t and beta_t; see `BahdanauDecoderCell`."""
        length = ops.shape(memory["values"])[1]
        return [weights[..., :length], weights[..., length:]]


@keras.saving.register_keras_serializable("kerasnmt")
class ContextDecoder(RecurrentDecoder):
    """`RecurrentDecoder` with a `ContextDecoderCell`.

    The readout gets (y_{t-1}, s_t, [c_t; k_t]). The records of a position are `weights` alpha_t and
    `context_weights` beta_t.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: A `ContextDecoderCell`.
        readout: A readout, for example `MaxoutReadout`.
        generator: A generator, for example `VocabularyProjection`.
        dropout: Dropout rate of the embedded words and of the readout, in [0, 1).
    """

    def readout_shapes(self, memory_shape: tuple) -> tuple[tuple, tuple, tuple]:
        """Return the shapes of (y_{t-1}, s_t, [c_t; k_t]); see `DecoderLoop`."""
        embedded, state, context = super().readout_shapes(memory_shape)
        return embedded, state, (*context[:-1], 2 * context[-1])

    def records(self, weights: Any, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the weights of both attentions; see `RecurrentDecoder`."""
        parts = split_weights(weights, memory)
        return {"weights": parts["source"], "context_weights": parts["context"]}

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return the losses of both attentions; see `Decoder`."""
        of_context = self.cell.context_attention, records["context_weights"]
        losses = super().added_losses(records, target_ids)
        return [*losses, *attention_losses(*of_context, target_ids)]

    def _readout_inputs(
        self, embedded: Any, output: Any, weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        contexts = [
            weighted_sum(part, memory["annotations"][name])
            for name, part in split_weights(weights, memory).items()
        ]
        return embedded, output, ops.concatenate(contexts, axis=-1)


def split_weights(weights: Any, memory: dict[str, Any]) -> dict[str, Any]:
    """Split attention weights into the source's and the context's.

    Args:
        weights: `[..., source_length + context_length]`.
        memory: From `ContextDecoder.project_memory`.

    Returns:
        A dict of `source`, `[..., source_length]`, and `context`, `[..., context_length]`.
    """
    length = ops.shape(memory["annotations"]["source"])[1]
    return {"source": weights[..., :length], "context": weights[..., length:]}
