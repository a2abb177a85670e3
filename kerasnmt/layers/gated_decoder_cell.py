"""The decoder cell that weighs what it attends to."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class GatedDecoderCell(BahdanauDecoderCell):
    """Bahdanau's step with a gate on the context, which says how much of it the word needs.

        z_t = beta_t sum_i alpha_{t,i} a_i,    beta_t = sigmoid(f_beta(s_{t-1}))
        s_t = cell(W y_{t-1} + b + C z_t, s_{t-1})

    The output is [s_t; beta_t]; the readout hears s_t and z_t.

    Source: Xu et al. (2015), "Show, attend and tell", equations 1 to 3 and section 4.2.1, where
    f_beta is a linear layer.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        attention: an attention layer, for example `BahdanauAttention(units)`.
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
        self.output_units = cell.units + 1
        self.gate = keras.layers.Dense(
            1, activation="sigmoid", dtype=self.dtype_policy, name="gate"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights; arguments as in `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.gate.build((None, self.cell.units))

    @property
    def heard_units(self) -> int:
        """Number of the features of s_t; see `DecoderCell`."""
        return self.cell.units

    def heard(self, output: Any, context: Any) -> tuple[Any, Any]:
        """Return s_t and z_t; see `DecoderCell`."""
        return output[..., :-1], output[..., -1:] * context

    def _advance(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        context, weights = self.attention(states[0], **memory)
        gate = on_rows(self.gate, states[0])
        output, states = self.cell(inputs + gate * context, states)
        return ops.concatenate([output, gate], axis=-1), weights, states
