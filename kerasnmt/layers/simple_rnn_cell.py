"""A simple recurrent cell whose input projection is made outside the time loop."""

from typing import Any

import keras
from keras import ops


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
            states: the list of one state `[..., units]`.

        Returns:
            output `[..., units]`, and the list of the new state, which is the output.
        """
        output = ops.tanh(inputs + ops.matmul(states[0], self.recurrent_kernel))
        return output, [output]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
