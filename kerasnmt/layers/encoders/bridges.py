"""Bridges, which compute the decoder's first states from the encoder's last states."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops, tree

from kerasnmt.layers.composite import Composite


def _sizes(layers: list[list[list[Any]]]) -> list[list[list[int]]]:
    """Return the sizes of states, from their sizes or, if Keras builds a bridge, their shapes."""
    return [
        [[one if isinstance(one, int) else one[-1] for one in direction] for direction in layer]
        for layer in layers
    ]


@keras.saving.register_keras_serializable("kerasnmt")
class BackwardStateBridge(Composite, keras.layers.Layer):
    """Bridge that projects the last backward state of the encoder.

        s_0 = tanh(W h_1 + b)

    h_1 is the last state of the backward direction of the topmost layer. It has read the whole
    source, and the first word last, where most translations begin. If the layer has one direction,
    h_1 is the last state of this direction. If the cells have several states (LSTM), each state has
    its own W. Each of several decoder layers reads the encoder layer of the same height.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", appendix A.2.2, without the bias b.

    Args:
        units: Size of the decoder's state.
        num_layers: Number of layers of the decoder, counted from the topmost one.
    """

    def __init__(self, units: int, num_layers: int = 1, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.num_layers = num_layers

    def build(self, state_size: list) -> None:
        """Create the weights for the sizes or shapes of the encoder states, nested as in `call`."""
        backward = self._backward(_sizes(state_size))
        self.projections = [
            keras.layers.Dense(
                self.units,
                activation="tanh",
                trainable=self.trainable,
                dtype=self.dtype_policy,
                name=f"projection_{number}",
            )
            for number, _ in enumerate(backward)
        ]
        for projection, size in zip(self.projections, backward, strict=True):
            projection.build((None, size))

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: For each layer, from top to bottom, and each direction, a list of the
                cell's states, `[batch, size]` each. The last direction is the backward one.

        Returns:
            List of the cell's states, `[batch, units]` each, layers from top to bottom.
        """
        pairs = zip(self.projections, self._backward(encoder_states), strict=True)
        return [projection(state) for projection, state in pairs]

    def _backward(self, layers: list[list[list[Any]]]) -> list[Any]:
        return [state for *_, backward in layers[: self.num_layers] for state in backward]


@keras.saving.register_keras_serializable("kerasnmt")
class LastStateBridge(Composite, keras.layers.Layer):
    """Bridge that copies the last states of each encoder layer to its decoder layer.

        s_0 = h_S

    The states of the directions of a layer are concatenated, so a decoder cell has as many units as
    all directions together. There are no weights.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks";
    Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation".
    """

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: For each layer, from top to bottom, and each direction, a list of the
                cell's states, `[batch, size]` each.

        Returns:
            List of the cell's states, `[batch, size]` each, layers from top to bottom.
        """
        return [
            ops.concatenate(directions, axis=-1)
            for layer in encoder_states
            for directions in zip(*layer, strict=True)
        ]


@keras.saving.register_keras_serializable("kerasnmt")
class DenseBridge(Composite, keras.layers.Layer):
    """Bridge that projects all last states of the encoder.

        s_0 = tanh(W h + b)

    h is the concatenation of the states. This bridge connects any encoder with any decoder cell.
    Each state of the decoder has its own W.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", appendix A.1.1, c = tanh(V h).

    Args:
        state_size: Sizes of the states: the `state_size` of the decoder cell.
    """

    def __init__(self, state_size: Sequence[int], **kwargs) -> None:
        super().__init__(**kwargs)
        self.state_size = list(state_size)
        self.projections = [
            keras.layers.Dense(
                size, activation="tanh", dtype=self.dtype_policy, name=f"projection_{number}"
            )
            for number, size in enumerate(state_size)
        ]

    def build(self, state_size: list) -> None:
        """Create the weights for the sizes or shapes of the encoder states, nested as in `call`."""
        for projection in self.projections:
            projection.build((None, sum(tree.flatten(_sizes(state_size)))))

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: For each layer, from top to bottom, and each direction, a list of the
                cell's states, `[batch, size]` each.

        Returns:
            List of the cell's states, `[batch, size]` each.
        """
        together = ops.concatenate(tree.flatten(encoder_states), axis=-1)
        return [projection(together) for projection in self.projections]


@keras.saving.register_keras_serializable("kerasnmt")
class ZeroBridge(Composite, keras.layers.Layer):
    """Bridge that sets the first states to 0.

    The decoder gets information about the source only through its attention.

    Args:
        state_size: Sizes of the states: the `state_size` of the decoder cell.
    """

    def __init__(self, state_size: Sequence[int], **kwargs) -> None:
        super().__init__(**kwargs)
        self.state_size = list(state_size)

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: See `DenseBridge`; only the batch size is used.

        Returns:
            List of the cell's states, zeros of shape `[batch, size]` each.
        """
        column = ops.zeros_like(encoder_states[0][0][0][:, :1])
        return [ops.tile(column, (1, size)) for size in self.state_size]
