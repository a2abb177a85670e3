"""Decoder cell that attends between two transitions of its state."""

from typing import Any

import keras

from kerasnmt.layers.cells.transition_cell import check_transitions
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.attention_decoder_cell import AttentionDecoderCell
from kerasnmt.layers.decoders.decoder_cell import DecoderState


@keras.saving.register_keras_serializable("kerasnmt")
class ConditionalDecoderCell(AttentionDecoderCell):
    """One step of a conditional decoder, which attends between two transitions of its state.

        s'_t = cell(W y_{t-1} + b, s_{t-1}),    alpha_t = attention(s'_t, h)
        s_t = transition(sum_i alpha_{t,i} (C h_i + d), s'_t)

    With two GRU cells, this is the conditional GRU (cGRU). The output is s_t. `project_memory`
    applies C once per source.

    Source: Sennrich et al. (2017), "Nematus: a toolkit for neural machine translation", section 3.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        transition: Recurrent cell that reads the context, for example `GRUCell(units)`, or a
            `TransitionCell` for more transitions. Its states have the sizes of those of `cell`.
        attention: Attention layer, for example `BahdanauAttention(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1), with one mask for both
            transitions; see `StateDropout`.

    Raises:
        ValueError: If the sizes of the states of the two cells differ.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        transition: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, attention, state_dropout, **kwargs)
        check_transitions([cell, transition])
        self.transition = transition
        self.context_projection = keras.layers.Dense(
            transition.input_size, dtype=self.dtype_policy, name="context_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights; see `DecoderCell`."""
        super().build(input_shape, memory_shape)
        build_once(self.transition, (None, self.transition.input_size))
        self.context_projection.build(memory_shape)

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step; see `DecoderCell`."""
        _, state = self.recur(inputs, state)
        context, weights, state = self.attend(state.cell[0], state, memory)
        output, states = self.transition(context, state.cell)
        return output, weights, state._replace(cell=states)
