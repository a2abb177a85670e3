"""Decoder cells that attend after their recurrent cell."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.decoders.attention_decoder_cell import AttentionDecoderCell
from kerasnmt.layers.products import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class LuongDecoderCell(AttentionDecoderCell):
    """One step of Luong's decoder without input feeding: the cell, then attend with s_t.

        s_t = cell(W y_{t-1} + b, s_{t-1}),    alpha_t = attention(s_t, h)

    The output is s_t; the attentional state tanh(W_c [c_t; s_t]) is made by the readout, for
    example `AttentionalReadout`. Nothing in the attention is recurrent: over a given target the
    recurrent cell runs alone, and all its states are attended with in one batched product.

    Source: Luong, Pham and Manning (2015), section 3.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        attention: an attention layer without coverage, for example
            `Attention(GeneralScore(units))`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: the attention has coverage, which would make it recurrent.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        if attention.coverage is not None:
            raise ValueError(
                "Expected an attention without coverage, as nothing in this decoder's attention is "
                f"recurrent. Received: attention.coverage={attention.coverage}. Coverage goes with "
                "input feeding (InputFeedingDecoderCell) and with BahdanauDecoderCell."
            )
        super().__init__(cell, attention, state_dropout, **kwargs)

    def loop_cell(self) -> keras.layers.Layer:
        """Return the recurrent cell alone."""
        return self.cell

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for all steps: the keys, the memory as the values, and the mask."""
        keys = self.attention.project(memory)
        return {"keys": keys, "values": memory, "memory_mask": memory_mask}

    def _advance(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        output, states = self.cell(inputs, states)
        _, weights = self.attention(output, **memory)
        return output, weights, states

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Run the recurrent cell over a target, then attend with all its states at once."""
        end = len(states) - len(self.attention.history)
        outputs = loop(inputs, initial_state=states[:end])
        _, weights = self.attention(outputs, **memory)
        return outputs, weights


@keras.saving.register_keras_serializable("kerasnmt")
class InputFeedingDecoderCell(AttentionDecoderCell):
    """One step of Luong's decoder with input feeding.

        s_t = cell(W y_{t-1} + b + F a_{t-1}, s_{t-1}),    alpha_t = attention(s_t, h)
        a_t = tanh(W_c [c_t; s_t])

    The output is the attentional state a_t, of which the next step so knows where was looked
    before; `StateReadout` passes it on to the vocabulary. Because W_c [c_t; s_t] is
    sum_i alpha_{t,i} (C h_i) + D s_t, `project_memory` applies C once a source.

    Source: Luong, Pham and Manning (2015), section 3.3 and equation 5.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        attention: an attention layer, for example `Attention(GeneralScore(units))`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, attention, state_dropout, **kwargs)
        self.feeding_projection, self.context_projection, self.state_projection = (
            keras.layers.Dense(units, use_bias=False, dtype=self.dtype_policy, name=name)
            for units, name in (
                (cell.input_size, "feeding_projection"),
                (cell.units, "context_projection"),
                (cell.units, "state_projection"),
            )
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights; arguments as in `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.context_projection.build(memory_shape)
        for projection in (self.feeding_projection, self.state_projection):
            projection.build((None, self.cell.units))

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Add the attentional state before the first word, zeros, and the attention's history."""
        first = super().initial_states(states, memory, training, steps)
        end = len(first) - len(self.attention.history)
        return [*first[:end], ops.zeros_like(states[0]), *first[end:]]

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for all steps: the keys, C h_i as the values, and the mask."""
        return {
            "keys": self.attention.project(memory),
            "values": self.context_projection(memory),
            "memory_mask": memory_mask,
        }

    def _advance(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        *states, attentional = states
        inputs = inputs + on_rows(self.feeding_projection, attentional)
        state, states = self.cell(inputs, states)
        context, weights = self.attention(state, **memory)
        attentional = ops.tanh(context + on_rows(self.state_projection, state))
        return attentional, weights, [*states, attentional]
