"""An LSTM cell whose input projection is made outside the time loop."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.state_dropout import mask_state


@keras.saving.register_keras_serializable("kerasnmt")
class LSTMCell(keras.layers.Layer):
    """Long short-term memory that takes inputs already projected to its four gates.

        i = sigmoid(x_i + U_i h),    f = sigmoid(x_f + U_f h + 1),    o = sigmoid(x_o + U_o h)
        c' = f * c + i * tanh(x_g + U_g h),    h' = o * tanh(c')

    where x = W x_t + b is computed by the layer around it, see `GRUCell`. The 1 keeps the memory
    at the beginning of training, as the unit forget bias of `keras.layers.LSTMCell` does.

    Source: Hochreiter and Schmidhuber (1997), "Long short-term memory", with the forget gate of
    Gers, Schmidhuber and Cummins (2000).

    Args:
        units: size of each of the two states.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units, units]
        self.mask_size = [units]
        self.input_size = 4 * units

    def build(self, inputs_shape: tuple) -> None:
        """Make the weights for inputs `(..., 4 * units)`."""
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, 4 * self.units), initializer="orthogonal", name="recurrent_kernel"
        )

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Make one step.

        Args:
            inputs: projected input `[..., 4 * units]`, in the order i, f, g, o.
            states: h and c, each `[..., units]`; after them there may be a mask of h, see
                `StateDropout`.

        Returns:
            output h' `[..., units]`, and the list of h', c' and the mask.
        """
        state, memory, *mask = states
        gates = inputs + on_rows(self._recur, mask_state(state, mask))
        entry, forget, candidate, exit_ = ops.split(gates, 4, axis=-1)
        memory = ops.sigmoid(forget + 1.0) * memory + ops.sigmoid(entry) * ops.tanh(candidate)
        output = ops.sigmoid(exit_) * ops.tanh(memory)
        return output, [output, memory, *mask]

    def _recur(self, states: Any) -> Any:
        return ops.matmul(states, self.recurrent_kernel)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
