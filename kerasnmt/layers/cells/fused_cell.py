"""A recurrent layer of Keras as a cell, for the sake of cuDNN."""

from typing import Any

import keras
from keras import ops, tree

from kerasnmt.layers.composite import Composite, build_once


@keras.saving.register_keras_serializable("kerasnmt")
class FusedCell(Composite, keras.layers.Layer):
    """A recurrent layer of Keras as a recurrent cell.

    In a decoder cell that lets its recurrent cell run alone over a given target, as
    `LuongDecoderCell` and `FirstStateDecoderCell` do, the layer makes all steps at once: on a GPU
    that is one kernel of cuDNN, where Keras has it. Step by step, in search and in an export, the
    layer's own cell runs, with the same weights and the same numbers on any machine.

        LuongDecoderCell(FusedCell(keras.layers.LSTM(256, return_sequences=True)), attention)

    The layer has an input kernel of its own, so what it is given, `input_size` features, is a
    linear layer more than `LSTMCell` has; and on a CPU it multiplies by that kernel step by step,
    which is slower.

    Args:
        layer: `keras.layers.LSTM`, `GRU` or `SimpleRNN` with `return_sequences=True`.

    Raises:
        ValueError: If the layer returns its last output only, or its last states as well.
    """

    def __init__(self, layer: keras.layers.RNN, **kwargs) -> None:
        super().__init__(**kwargs)
        if not layer.return_sequences or layer.return_state:
            raise ValueError(
                "Expected a layer with return_sequences=True and return_state=False. Received: "
                f"return_sequences={layer.return_sequences}, return_state={layer.return_state}"
            )
        self.layer = layer
        self.units = self.input_size = layer.units
        self.state_size = tree.flatten(layer.cell.state_size)
        self.mask_size = []  # cuDNN takes none

    def build(self, inputs_shape: tuple) -> None:
        """Make the weights for inputs `(..., units)`."""
        build_once(self.layer, (None, None, inputs_shape[-1]))

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Make one step.

        Args:
            inputs: `[batch, units]` or `[batch, hypotheses, units]`.
            states: Of `state_size`, `[..., size]` each.

        Returns:
            Output `[..., units]`, and the list of new states.
        """
        shape = ops.shape(inputs)
        flat = [ops.reshape(value, (-1, value.shape[-1])) for value in (inputs, *states)]
        output, new_states = self.layer.cell(flat[0], flat[1:])
        return ops.reshape(output, shape), [ops.reshape(state, shape) for state in new_states]
