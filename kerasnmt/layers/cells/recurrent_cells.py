"""Recurrent cells whose inputs are projected outside the time loop."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.cells.state_dropout import mask_state
from kerasnmt.layers.composite import Composite
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class GRUCell(Composite, keras.layers.Layer):
    """Gated recurrent unit (GRU), whose inputs are already projected to its three gates.

        z = sigmoid(x_z + U_z h),    r = sigmoid(x_r + U_r h)
        h~ = tanh(x_h + r * (U_h h + b_h)),    h' = z * h + (1 - z) * h~

    The surrounding layer computes x = W x_t + b. If the whole target is known, it computes most of
    x for all steps in one large matrix product. `keras.layers.GRUCell` computes a small product in
    every step instead. Its recurrence is the same, with `reset_after=True`.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", with the reset gate after the matrix product.

    Args:
        units: Size of the state.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units]
        self.mask_size = [units]
        self.input_size = 3 * units

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., 3 * units)`."""
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, 3 * self.units), initializer="orthogonal", name="recurrent_kernel"
        )
        self.recurrent_bias = self.add_weight(
            shape=(3 * self.units,), initializer="zeros", name="recurrent_bias"
        )

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step.

        Args:
            inputs: Projected input, `[batch, 3 * units]`, in the order z, r, h.
            states: List of one state, `[batch, units]`. A mask of the same shape may follow; see
                `StateDropout`.

        Returns:
            The output, `[batch, units]`; and the list of the new state, which is the output, and
            the mask if there is one.
        """
        state, *mask = states
        # The bias is added outside `_recur`: for the rows of a search, one op for both is slower.
        recurrent = on_rows(self._recur, mask_state(state, mask)) + self.recurrent_bias
        x_gates, x_h = ops.split(inputs, [2 * self.units], axis=-1)
        h_gates, h_h = ops.split(recurrent, [2 * self.units], axis=-1)
        update, reset = ops.split(ops.sigmoid(x_gates + h_gates), 2, axis=-1)
        candidate = ops.tanh(x_h + reset * h_h)
        output = candidate + update * (state - candidate)
        return output, [output, *mask]

    def _recur(self, states: Any) -> Any:
        return ops.matmul(states, self.recurrent_kernel)


@keras.saving.register_keras_serializable("kerasnmt")
class LSTMCell(Composite, keras.layers.Layer):
    """Long short-term memory (LSTM), whose inputs are already projected to its four gates.

        i = sigmoid(x_i + U_i h),    f = sigmoid(x_f + U_f h + 1),    o = sigmoid(x_o + U_o h)
        c' = f * c + i * tanh(x_g + U_g h),    h' = o * tanh(c')

    The surrounding layer computes x = W x_t + b; see `GRUCell`. The 1 keeps the forget gate open at
    the start of training, like `unit_forget_bias` of `keras.layers.LSTMCell`.

    Source: Hochreiter and Schmidhuber (1997), "Long short-term memory", with the forget gate of
    Gers, Schmidhuber and Cummins (2000), "Learning to forget".

    Args:
        units: Size of each of the two states.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units, units]
        self.mask_size = [units]
        self.input_size = 4 * units

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., 4 * units)`."""
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, 4 * self.units), initializer="orthogonal", name="recurrent_kernel"
        )

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step.

        Args:
            inputs: Projected input, `[..., 4 * units]`, in the order i, f, g, o.
            states: List of h and c, `[..., units]` each. A mask of h may follow; see
                `StateDropout`.

        Returns:
            The output h', `[..., units]`; and the list of h', c' and the mask if there is one.
        """
        state, memory, *mask = states
        gates = inputs + on_rows(self._recur, mask_state(state, mask))
        entry, forget, candidate, exit_ = ops.split(gates, 4, axis=-1)
        memory = ops.sigmoid(forget + 1.0) * memory + ops.sigmoid(entry) * ops.tanh(candidate)
        output = ops.sigmoid(exit_) * ops.tanh(memory)
        return output, [output, memory, *mask]

    def _recur(self, states: Any) -> Any:
        return ops.matmul(states, self.recurrent_kernel)


@keras.saving.register_keras_serializable("kerasnmt")
class SimpleRNNCell(Composite, keras.layers.Layer):
    """Simple recurrent cell, whose inputs are already projected.

        h' = f(x + U h)

    The surrounding layer computes x = W x_t + b; see `GRUCell`.

    Source: Elman (1990), "Finding structure in time", where f is the logistic function. The default
    here is tanh, which is usual today. `activation="sigmoid"` gives the equation of Sutskever,
    Vinyals and Le (2014), "Sequence to sequence learning with neural networks", section 2.

    Args:
        units: Size of the state.
        activation: Function f, or its name in `keras.activations`.
    """

    def __init__(self, units: int, activation: str | Callable = "tanh", **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)
        self.state_size = [units]
        self.mask_size = [units]
        self.input_size = units

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., units)`."""
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, self.units), initializer="orthogonal", name="recurrent_kernel"
        )

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step.

        Args:
            inputs: Projected input, `[..., units]`.
            states: List of one state, `[..., units]`. A mask of the same shape may follow; see
                `StateDropout`.

        Returns:
            The output, `[..., units]`; and the list of the new state, which is the output, and the
            mask if there is one.
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
