"""Recurrent cell that consists of a Keras layer, to use cuDNN."""

from typing import Any

import keras
from keras import ops, tree

from kerasnmt.layers.composite import Composite, build_once


@keras.saving.register_keras_serializable("kerasnmt")
class FusedCell(Composite, keras.layers.Layer):
    """Recurrent cell made from a Keras recurrent layer, which cuDNN can run.

    `LuongDecoderCell` and `FirstStateDecoderCell` run their recurrent cell alone over a given
    target. There, the Keras layer computes all steps at once: on a GPU in one cuDNN kernel, where
    Keras supports it. In a search and in an export, the cell of the Keras layer runs step by step,
    with the same weights and the same results on any machine.

    ```python
    LuongDecoderCell(FusedCell(keras.layers.LSTM(256, return_sequences=True)), attention)
    ```

    The Keras layer has its own input kernel, and the inputs are already projected. So this cell has
    one linear layer more than `LSTMCell`. On a CPU it multiplies by the input kernel in every step,
    which is slower.

    Args:
        layer: `keras.layers.LSTM`, `GRU` or `SimpleRNN` with `return_sequences=True`.

    Raises:
        ValueError: If the layer returns only its last output, or also its last states, or reads
            backwards.
    """

    def __init__(self, layer: keras.layers.RNN, **kwargs) -> None:
        super().__init__(**kwargs)
        if not layer.return_sequences or layer.return_state or layer.go_backwards:
            raise ValueError(
                "Expected a layer with return_sequences=True, return_state=False and "
                f"go_backwards=False. Received: return_sequences={layer.return_sequences}, "
                f"return_state={layer.return_state}, go_backwards={layer.go_backwards}"
            )
        self.layer = layer
        self.units = self.input_size = layer.units
        self.state_size = tree.flatten(layer.cell.state_size)
        self.mask_size: list[int] = []  # cuDNN accepts no masks of states

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., units)`."""
        build_once(self.layer, (None, None, inputs_shape[-1]))

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step.

        Args:
            inputs: `[batch, units]` or `[batch, hypotheses, units]`.
            states: List of states, `[..., size]` each, with the sizes of `state_size`.

        Returns:
            The output, `[..., units]`, and the list of new states.
        """
        shape = ops.shape(states[0])
        flat = [ops.reshape(value, (-1, value.shape[-1])) for value in (inputs, *states)]
        output, new_states = self.layer.cell(flat[0], flat[1:])
        return ops.reshape(output, shape), [ops.reshape(state, shape) for state in new_states]


def loop_over(cell: keras.layers.Layer) -> keras.layers.RNN:
    """Return the layer that runs a cell over a sequence: the Keras layer of a fused cell."""
    if isinstance(cell, FusedCell):
        return cell.layer
    # Float32 without autocast leaves inputs and outputs as they are. In half precision, attention
    # weights would be too inexact for a pointer's loss, which takes their logarithm.
    return keras.layers.RNN(
        cell, return_sequences=True, dtype="float32", autocast=False, name="loop"
    )
