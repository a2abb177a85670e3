"""A simple recurrent cell whose input projection is made outside the time loop."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.state_dropout import mask_state


@keras.saving.register_keras_serializable("kerasnmt")
class SimpleRNNCell(keras.layers.Layer):
    """h' = tanh(x + U h), where x = W x_t + b is computed by the layer around it.

    Source: Elman (1990), "Finding structure in time", with the tanh that is usual in place of a
    sigmoid.

    Args:
        units: size of the state.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units]
        self.mask_size = [units]
        self.input_size = units

    def build(self, inputs_shape: tuple) -> None:
        """Make the weights for inputs `(..., units)`."""
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, self.units), initializer="orthogonal", name="recurrent_kernel"
        )

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Make one step.

        Args:
            inputs: projected input `[..., units]`.
            states: the list of one state `[..., units]`; after it there may be a mask of the same
                shape, see `StateDropout`.

        Returns:
            output `[..., units]`, and the list of the new state, which is the output, and of the
            mask.
        """
        state, *mask = states
        recurrent = on_rows(self._recur, mask_state(state, mask))
        output = ops.tanh(inputs + recurrent)
        return output, [output, *mask]

    def _recur(self, states: Any) -> Any:
        return ops.matmul(states, self.recurrent_kernel)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
