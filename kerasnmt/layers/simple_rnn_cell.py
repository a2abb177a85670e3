"""A simple recurrent cell whose input projection is made outside the time loop."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.state_dropout import mask_state


@keras.saving.register_keras_serializable("kerasnmt")
class SimpleRNNCell(keras.layers.Layer):
    """h' = f(x + U h), where the layer around the cell computes x = W x_t + b.

    Source: Elman (1990), "Finding structure in time", where f is the logistic function. The
    default is tanh, as usual today. `activation="sigmoid"` gives the equation of Sutskever, Vinyals
    and Le (2014), section 2: h_t = sigm(W x_t + U h_{t-1}).

    Args:
        units: Size of the state.
        activation: The function f, or its name in `keras.activations`.
    """

    def __init__(self, units: int, activation: str | Callable = "tanh", **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)
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
        output = self.activation(inputs + recurrent)
        return output, [output, *mask]

    def _recur(self, states: Any) -> Any:
        return ops.matmul(states, self.recurrent_kernel)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        activation = keras.activations.serialize(self.activation)
        return {**super().get_config(), "units": self.units, "activation": activation}
