"""The decoder cell that is fed the thought vector at every step."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.decoder_cell import DecoderCell


@keras.saving.register_keras_serializable("kerasnmt")
class ThoughtVectorDecoderCell(DecoderCell):
    """One step of a decoder without attention: s_t = cell(W y_{t-1} + b + C c, s_{t-1}).

    The thought vector c is s_0, which the bridge made of the encoder's states. C c is computed
    once a source and carried along with the states.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", section 2.2 and appendix A.1.2; there s_0 = tanh(V' c), here
    c itself.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    def __init__(self, cell: keras.layers.Layer, state_dropout: float = 0.0, **kwargs) -> None:
        super().__init__(cell, state_dropout, **kwargs)
        self.context_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="context_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights; arguments as in `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.context_projection.build((None, self.cell.units))

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Add the projected thought vector to the recurrent cell's first states."""
        states = super().initial_states(states, memory, training, steps)
        return [*states, self.context_projection(states[0])]

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None, list[Any]]:
        """Make one step; see `DecoderCell`."""
        *states, context = states
        output, states = self.cell(inputs + context, states)
        return output, None, [*states, context]

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None]:
        """Make all steps of a given target; see `DecoderCell`."""
        *states, context = states
        return loop(inputs + ops.expand_dims(context, 1), initial_state=states), None
