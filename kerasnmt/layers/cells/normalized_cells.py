"""Recurrent cells with layer normalization."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.cells.recurrent_cells import GRUCell, LSTMCell
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.normalization import LayerNormalization


@keras.saving.register_keras_serializable("kerasnmt")
class NormalizedGRUCell(GRUCell):
    """Gated recurrent unit (GRU) with layer normalization (LN).

        [z; r] = sigmoid(LN_1([x_z; x_r]) + LN_2([U_z h; U_r h]))
        h~ = tanh(LN_3(x_h) + r * LN_4(U_h h)),    h' = z * h + (1 - z) * h~

    The normalizations add the biases. See `GRUCell` for the inputs x.

    Source: Ba et al. (2016), "Layer normalization", equations 27 to 29 of the supplement.

    Args:
        units: Size of the state.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(units, **kwargs)
        self.norms = [
            LayerNormalization(dtype=self.dtype_policy, name=name)
            for name in ("input_gates", "input_candidate", "state_gates", "state_candidate")
        ]

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., 3 * units)`."""
        super(GRUCell, self).build(inputs_shape)  # without the bias
        for norm, factor in zip(self.norms, (2, 1, 2, 1), strict=True):
            build_once(norm, (None, factor * self.units))

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step; see `GRUCell`."""
        state, *mask = states
        recurrent = self._recur(state, mask)
        parts = [
            *ops.split(inputs, [2 * self.units], axis=-1),
            *ops.split(recurrent, [2 * self.units], axis=-1),
        ]
        x_gates, x_h, h_gates, h_h = (n(p) for n, p in zip(self.norms, parts, strict=True))
        update, reset = ops.split(ops.sigmoid(x_gates + h_gates), 2, axis=-1)
        candidate = ops.tanh(x_h + reset * h_h)
        output = candidate + update * (state - candidate)
        return output, [output, *mask]


@keras.saving.register_keras_serializable("kerasnmt")
class NormalizedLSTMCell(LSTMCell):
    """Long short-term memory (LSTM) with layer normalization (LN).

        [i; f; g; o] = LN_1(x) + LN_2(U h)
        c' = sigmoid(f + 1) * c + sigmoid(i) * tanh(g),    h' = sigmoid(o) * tanh(LN_3(c'))

    The normalizations add the biases. See `LSTMCell` for the inputs x.

    Source: Ba et al. (2016), "Layer normalization", equations 20 to 22 of the supplement.

    Args:
        units: Size of each of the two states.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(units, **kwargs)
        self.norms = [
            LayerNormalization(dtype=self.dtype_policy, name=name)
            for name in ("inputs", "state", "memory")
        ]

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., 4 * units)`."""
        super().build(inputs_shape)
        for norm, factor in zip(self.norms, (4, 4, 1), strict=True):
            build_once(norm, (None, factor * self.units))

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step; see `LSTMCell`."""
        state, memory, *mask = states
        of_inputs, of_state, of_memory = self.norms
        recurrent = self._recur(state, mask)
        gates = of_inputs(inputs) + of_state(recurrent)
        entry, forget, candidate, exit_ = ops.split(gates, 4, axis=-1)
        memory = ops.sigmoid(forget + 1.0) * memory + ops.sigmoid(entry) * ops.tanh(candidate)
        output = ops.sigmoid(exit_) * ops.tanh(of_memory(memory))
        return output, [output, memory, *mask]
