"""Recurrent cells whose inputs are projected outside the time loop."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.cells.state_dropout import mask_state
from kerasnmt.layers.composite import Composite
from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.orthogonal import Orthogonal


class _Cell(Composite, keras.layers.Layer):
    """Base class of recurrent cells with one matrix, which multiplies the state.

    Args:
        units: Size of each state.
        states: Number of states.
        gates: Number of inputs of each unit.
    """

    def __init__(self, units: int, states: int, gates: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.state_size = [units] * states
        self.mask_size = [units]
        self.input_size = gates * units

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., input_size)`."""
        check_inputs(inputs_shape, self)
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, self.input_size), initializer=Orthogonal(), name="recurrent_kernel"
        )

    def _recur(self, state: Any, masks: Sequence[Any]) -> Any:
        """Multiply the state, or the masked state if there is a mask."""
        return on_rows(
            lambda rows: ops.matmul(rows, self.recurrent_kernel), mask_state(state, masks)
        )


def check_cell(cell: Any) -> None:
    """Check that a recurrent cell takes projected inputs."""
    if not hasattr(cell, "input_size"):
        raise ValueError(
            "Expected a recurrent cell of kerasnmt.layers, such as LSTMCell(units), which "
            f"takes projected inputs. Received: cell={cell!r}."
        )


def check_inputs(inputs_shape: tuple, cell: keras.layers.Layer) -> None:
    """Check that the inputs of a recurrent cell have the size of the projected inputs."""
    if inputs_shape[-1] not in (None, cell.input_size):
        raise ValueError(
            f"Expected projected inputs of {cell.input_size} features for {type(cell).__name__}. "
            f"Received: inputs of shape {tuple(inputs_shape)}. Project them with "
            f"Dense({cell.input_size}), or use a layer that does, such as ForwardLayer."
        )


@keras.saving.register_keras_serializable("kerasnmt")
class GRUCell(_Cell):
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
        super().__init__(units, states=1, gates=3, **kwargs)

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., 3 * units)`."""
        super().build(inputs_shape)
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
        recurrent = self._recur(state, mask) + self.recurrent_bias
        x_gates, x_h = ops.split(inputs, [2 * self.units], axis=-1)
        h_gates, h_h = ops.split(recurrent, [2 * self.units], axis=-1)
        update, reset = ops.split(ops.sigmoid(x_gates + h_gates), 2, axis=-1)
        candidate = ops.tanh(x_h + reset * h_h)
        output = candidate + update * (state - candidate)
        return output, [output, *mask]


@keras.saving.register_keras_serializable("kerasnmt")
class LSTMCell(_Cell):
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
        super().__init__(units, states=2, gates=4, **kwargs)

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
        gates = inputs + self._recur(state, mask)
        entry, forget, candidate, exit_ = ops.split(gates, 4, axis=-1)
        memory = ops.sigmoid(forget + 1.0) * memory + ops.sigmoid(entry) * ops.tanh(candidate)
        output = ops.sigmoid(exit_) * ops.tanh(memory)
        return output, [output, memory, *mask]


@keras.saving.register_keras_serializable("kerasnmt")
class SimpleRNNCell(_Cell):
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
        super().__init__(units, states=1, gates=1, **kwargs)
        self.activation = keras.activations.get(activation)

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
        output = self.activation(inputs + self._recur(state, mask))
        return output, [output, *mask]
