"""The decoder cell that hears of the source in its first state only."""

from typing import Any

import keras

from kerasnmt.layers.decoder_cell import DecoderCell


@keras.saving.register_keras_serializable("kerasnmt")
class FirstStateDecoderCell(DecoderCell):
    """One step of a decoder without attention: s_t = cell(W y_{t-1} + b, s_{t-1}).

    All that is known of the source is the thought vector in s_0, from the bridge. Over a given
    target the recurrent cell runs alone.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks".

    Args:
        cell: a recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None, list[Any]]:
        """Make one step; see `DecoderCell`."""
        output, states = self.cell(inputs, states)
        return output, None, states

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None]:
        """Make all steps of a given target; see `DecoderCell`."""
        return loop(inputs, initial_state=states), None
