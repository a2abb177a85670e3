"""Decoder cells that attend after their recurrent cell."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.decoders.attention_decoder_cell import AttentionDecoderCell
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class LuongDecoderCell(AttentionDecoderCell):
    """One step of Luong's decoder, which attends after its recurrent cell has run.

        s_t = cell(W y_{t-1} + b, s_{t-1}),    alpha_t = attention(s_t, h)

    The output is s_t. The readout, for example `AttentionalReadout`, computes the attentional
    vector tanh(W_c [c_t; s_t]). There is no input feeding, so no step depends on the attention of
    earlier steps. Over a given target, the recurrent cell runs alone, and then all its states
    attend in one batched product.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        attention: Attention layer whose weights do not depend on those of earlier words, for
            example `Attention(GeneralScore(units))`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: If the weights of the attention depend on those of earlier words, as with
            coverage.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        if attention.follows:
            raise ValueError(
                "Expected an attention whose weights do not depend on those of earlier words, "
                "because this decoder cell attends for all steps at once. Received: "
                f"history={attention.history}. Use InputFeedingDecoderCell, which is "
                "input_feeding=True in the zoo, or BahdanauDecoderCell."
            )
        super().__init__(cell, attention, state_dropout, **kwargs)

    def loop_cell(self) -> keras.layers.Layer:
        """Return the recurrent cell alone."""
        return self.cell

    def project_memory(self, annotations: Any, memory_mask: Any) -> dict[str, Any]:
        """Compute the keys once per source; see `DecoderCell`. The values are the annotations."""
        keys = self.attention.project(annotations)
        return {"keys": keys, "values": annotations, "memory_mask": memory_mask}

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step; see `DecoderCell`."""
        output, state = self.recur(inputs, state)
        _, weights, state = self.attend(output, state, memory)
        return output, weights, state

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Run the recurrent cell over a target, then attend with all its outputs at once."""
        outputs = loop(inputs, initial_state=state.cell)
        _, weights = self.attention(outputs, **memory)
        return outputs, weights


@keras.saving.register_keras_serializable("kerasnmt")
class InputFeedingDecoderCell(AttentionDecoderCell):
    """One step of Luong's decoder with input feeding.

        s_t = cell(W y_{t-1} + b + F a_{t-1}, s_{t-1}),    alpha_t = attention(s_t, h)
        a_t = tanh(W_c [c_t; s_t])

    The output is the attentional vector a_t, which tells the next step where this step attended.
    `StateReadout` passes it to the generator. W_c [c_t; s_t] = sum_i alpha_{t,i} (C h_i) + D s_t,
    so `project_memory` applies C once per source.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.3 and equation 5.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        attention: Attention layer, for example `Attention(GeneralScore(units))`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
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
        """Create the weights; see `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.context_projection.build(memory_shape)
        for projection in (self.feeding_projection, self.state_projection):
            projection.build((None, self.cell.units))

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first step, with a_0 = 0; see `DecoderCell`."""
        state = super().initial_state(states, memory, training, steps)
        return state._replace(attentional=ops.zeros_like(states[0]))

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step; see `DecoderCell`."""
        inputs = inputs + on_rows(self.feeding_projection, state.attentional)
        output, state = self.recur(inputs, state)
        context, weights, state = self.attend(output, state, memory)
        attentional = ops.tanh(context + on_rows(self.state_projection, output))
        return attentional, weights, state._replace(attentional=attentional)
