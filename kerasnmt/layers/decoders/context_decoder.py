"""The decoder and its cell that attend to a source and to a passage."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.decoders.recurrent_decoder import RecurrentDecoder


@keras.saving.register_keras_serializable("kerasnmt")
class ContextDecoderCell(BahdanauDecoderCell):
    """Bahdanau's step with a second attention, to a second text.

        c_t = sum_i alpha_{t,i} h_i,    alpha_t = attention(s_{t-1}, h)
        k_t = sum_j beta_{t,j} g_j,     beta_t = context_attention(s_{t-1}, g)
        s_t = cell(W y_{t-1} + b + C c_t + K k_t, s_{t-1})

    The memory is that of `ContextEncoder`, h of the source and g of the context, and the weights of
    a step are those of both, [alpha_t; beta_t]. The output is s_t.

    Source: Stehnii (2018), "Neural attention", section "Attention over context"; McCann, Keskar,
    Xiong and Socher (2018), "The natural language decathlon", section 3, whose decoder attends to
    context and question. There s_t asks and attentional states are fed back, as Luong's are.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: the attention to the source, for example `BahdanauAttention(units)`.
        context_attention: the attention to the context, likewise.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: an attention has coverage or a window that moves.
    """

    memory_parts = (
        *("keys", "values", "memory_mask"),
        *("context_keys", "context_values", "context_mask"),
    )

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
                    "Expected attentions that know nothing of earlier words, without coverage and "
                    f"moving windows. Received: {name} that asks for {one.history}. "
                    "BahdanauDecoderCell has them, for a source alone."
                )
        self.context_attention = context_attention
        self.second_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="second_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights.

        Args:
            input_shape: `(..., features)` of the embedded target.
            memory_shape: `(batch, length, memory_units)`, of the source and of the context.
        """
        super().build(input_shape, memory_shape)
        keys = self.context_attention.project(keras.KerasTensor(memory_shape))
        build_once(self.context_attention, (None, self.cell.units), keys.shape)
        self.second_projection.build(memory_shape)

    def project_memory(self, memory: dict[str, Any], memory_mask: dict[str, Any]) -> dict[str, Any]:
        """Prepare both texts for all steps: the keys, C h_i and K g_j as the values, and masks.

        Args:
            memory: `source` and `context`, `[batch, length, memory_units]` each.
            memory_mask: likewise boolean `[batch, length]`, True = real token.
        """
        return {
            **super().project_memory(memory["source"], memory_mask["source"]),
            "context_keys": self.context_attention.project(memory["context"]),
            "context_values": self.second_projection(memory["context"]),
            "context_mask": memory_mask["context"],
        }

    def _advance(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        source = {name: memory[name] for name in ("keys", "values", "memory_mask")}
        found, context_weights = self.context_attention(
            states[0], memory["context_keys"], memory["context_values"], memory["context_mask"]
        )
        output, weights, states = super()._advance(inputs + found, states, source)
        return output, ops.concatenate([weights, context_weights], axis=-1), states


@keras.saving.register_keras_serializable("kerasnmt")
class ContextDecoder(RecurrentDecoder):
    """A `RecurrentDecoder` around a `ContextDecoderCell`.

    What a position hears is (y_{t-1}, s_t, [c_t; k_t]), and the weights of a position are those of
    both texts, [alpha_t; beta_t], the source's first.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: a `ContextDecoderCell`.
        readout: for example `MaxoutReadout`.
        generator: for example `VocabularyProjection`.
        dropout: share of the embedded words' and of the readout's features that are dropped in
            training, in [0, 1).
    """

    def heard_shapes(self, memory_shape: tuple) -> tuple[tuple, tuple, tuple]:
        """Return the shapes of (y_{t-1}, s_t, [c_t; k_t]); see `DecoderLoop`."""
        *others, context = super().heard_shapes(memory_shape)
        return *others, (*context[:-1], 2 * context[-1])

    def project_memory(
        self,
        memory: dict[str, Any],
        memory_mask: dict[str, Any],
        source_ids: Any = None,
        context_ids: Any = None,
    ) -> dict[str, Any]:
        """Prepare a source and a context for `call` and `step`, once.

        Args:
            memory: `source` and `context`, `[batch, length, memory_units]` each.
            memory_mask: likewise boolean `[batch, length]`, True = real token.
            source_ids: int32 `[batch, source_length]`, for decoders that copy.
            context_ids: likewise.

        Returns:
            what `call` and `step` take as `memory`.
        """
        return super().project_memory(memory, memory_mask)

    def _heard(
        self, embedded: Any, state: Any, weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        contexts = [
            weighted_sum(part, memory["memory"][name])
            for name, part in split_weights(weights, memory).items()
        ]
        return embedded, state, ops.concatenate(contexts, axis=-1)


def split_weights(weights: Any, memory: dict[str, Any]) -> dict[str, Any]:
    """Part the weights of both texts.

    Args:
        weights: `[..., source_length + context_length]`.
        memory: what `ContextDecoder.project_memory` returned.

    Returns:
        `source` `[..., source_length]` and `context` `[..., context_length]`.
    """
    length = ops.shape(memory["memory"]["source"])[1]
    return {"source": weights[..., :length], "context": weights[..., length:]}
