"""Decoder cells that attend before their recurrent cell."""

from typing import Any, ClassVar

import keras
from keras import ops

from kerasnmt.layers.decoders.attention_decoder_cell import AttentionDecoderCell
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.on_rows import on_rows
from kerasnmt.speed.after_loop import gradients_after_loop, in_loop


@keras.saving.register_keras_serializable("kerasnmt")
class BahdanauDecoderCell(AttentionDecoderCell):
    """One step of Bahdanau's decoder, which attends before its recurrent cell runs.

        c_t = sum_i alpha_{t,i} h_i,    alpha_t = attention(s_{t-1}, h)
        s_t = cell(W y_{t-1} + b + C c_t, s_{t-1})

    The output is s_t. C c_t = sum_i alpha_{t,i} (C h_i), so `project_memory` applies C once per
    source.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", section 3.1 and appendix A.2.2.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: Attention layer, for example `BahdanauAttention(units)`. Its context must be the
            sum of the values, weighted by the weights that it returns.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    # Names of the values in the memory that `_factors` returns the factors of. The gradients of
    # these values are computed after the loop.
    value_names: ClassVar[tuple[str, ...]] = ("values",)

    def __init_subclass__(cls, **kwargs) -> None:
        """Clear `value_names` of a subclass that steps or attends itself but does not set them."""
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if {"step", "attend"} & own.keys() and "value_names" not in own:
            cls.value_names = ()

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, attention, state_dropout, **kwargs)
        self.context_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="context_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights; see `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.context_projection.build(memory_shape)

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step; see `DecoderCell`."""
        context, weights, state = self.attend(state.cell[0], state, memory)
        output, state = self.recur(inputs + context, state)
        return output, weights, state

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Make all steps of a given target; see `DecoderCell`."""
        unroll = super().unroll
        if not self.value_names:
            return unroll(loop, inputs, state, memory)
        output, weights = gradients_after_loop(
            lambda inputs: unroll(loop, inputs, state, memory),
            inputs,
            [memory[name] for name in self.value_names],
            lambda output, weights: self._factors(output, weights, memory),
        )
        return output, weights

    def _factors(self, output: Any, weights: Any, memory: dict[str, Any]) -> list[Any]:
        """Return the factors of the values in the inputs of the recurrent cell.

        Args:
            output: Outputs of all steps, `[batch, target_length, output_units]`.
            weights: Attention weights of all steps, `[batch, target_length, source_length]`.
            memory: From `project_memory`.

        Returns:
            Factors `[batch, target_length, source_length]`, one for each of `value_names`.
        """
        return [weights]

    def _memory_in_loop(self, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the memory for `step` in the loop of `unroll`; see `AttentionDecoderCell`."""
        # If `in_loop` ran before the loop, TensorFlow would still sum up gradients for the values,
        # which are a constant state of the loop.
        values = {name: in_loop(memory[name]) for name in self.value_names}
        return super()._memory_in_loop({**memory, **values})


@keras.saving.register_keras_serializable("kerasnmt")
class GatedDecoderCell(BahdanauDecoderCell):
    """One step of Bahdanau's decoder with a gate on the context.

        z_t = beta_t sum_i alpha_{t,i} a_i,    beta_t = sigmoid(f_beta(s_{t-1}))
        s_t = cell(W y_{t-1} + b + C z_t, s_{t-1})

    The output is [s_t; beta_t]. The readout gets s_t and z_t.

    Source: Xu et al. (2015), "Show, attend and tell", equations 1 to 3 and section 4.2.1, where
    f_beta is a linear layer.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        attention: Attention layer, for example `BahdanauAttention(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    value_names = ("values",)

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
        """Create the weights; see `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.gate.build((None, self.cell.units))

    @property
    def readout_units(self) -> int:
        """Size of s_t; see `DecoderCell`."""
        return self.cell.units

    def readout_inputs(self, output: Any, context: Any) -> tuple[Any, Any]:
        """Return s_t and z_t; see `DecoderCell`."""
        return output[..., :-1], output[..., -1:] * context

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step; see `DecoderCell`."""
        gate = on_rows(self.gate, state.cell[0])
        context, weights, state = self.attend(state.cell[0], state, memory)
        output, state = self.recur(inputs + gate * context, state)
        return ops.concatenate([output, gate], axis=-1), weights, state

    def _factors(self, output: Any, weights: Any, memory: dict[str, Any]) -> list[Any]:
        """Return beta_t alpha_t; see `BahdanauDecoderCell`."""
        return [output[..., -1:] * ops.cast(weights, output.dtype)]
