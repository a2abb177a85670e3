"""Bridges: from the encoder's last states to the decoder's first states."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops, tree


@keras.saving.register_keras_serializable("kerasnmt")
class BackwardStateBridge(keras.layers.Layer):
    """s_0 = tanh(W h_1 + b), where h_1 is the last backward state of the encoder.

    The backward state has read the whole source and ends at its first word, where most
    translations begin. It comes from the encoder's topmost layer; if this layer has one direction,
    it is the last state of that direction. If the cells have several states (LSTM), each state has
    its own W.

    Source: Bahdanau, Cho and Bengio (2015), appendix A.2.2, whose equation has no bias b.

    Args:
        units: Size of the decoder's state.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units

    def build(self, state_size: list) -> None:
        """Make the weights for encoder states of these sizes, nested like the states of `call`."""
        (*_, backward), *_ = state_size
        self.projections = [
            keras.layers.Dense(
                self.units, activation="tanh", dtype=self.dtype_policy, name=f"projection_{number}"
            )
            for number, _ in enumerate(backward)
        ]
        for projection, size in zip(self.projections, backward, strict=True):
            projection.build((None, size))

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: For each layer, the topmost first, and each direction the list of a
                cell's states, `[batch, size]` each. The last direction is the backward one.

        Returns:
            The list of the cell's states, `[batch, units]` each.
        """
        (*_, backward), *_ = encoder_states
        pairs = zip(self.projections, backward, strict=True)
        return [projection(state) for projection, state in pairs]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable("kerasnmt")
class LastStateBridge(keras.layers.Layer):
    """s_0 = h_S: each layer of the decoder starts with the last states of its encoder layer.

    The states of a layer's directions are concatenated, so a decoder cell has as many units as all
    directions together. There are no weights.

    Source: Sutskever, Vinyals and Le (2014); Luong, Pham and Manning (2015).
    """

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: For each layer, the topmost first, and each direction the list of a
                cell's states, `[batch, size]` each.

        Returns:
            The list of the cell's states, the topmost layer's first.
        """
        return [
            ops.concatenate(directions, axis=-1)
            for layer in encoder_states
            for directions in zip(*layer, strict=True)
        ]


@keras.saving.register_keras_serializable("kerasnmt")
class DenseBridge(keras.layers.Layer):
    """s_0 = tanh(W h + b), where h is the concatenation of all last states of the encoder.

    It connects any encoder with any decoder cell. Each state of the decoder has its own W.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", appendix A.1.1 (c = tanh(V h)).

    Args:
        state_size: Sizes of the decoder cell's states, its `state_size`.
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
        """Make the weights for encoder states of these sizes, nested like the states of `call`."""
        for projection in self.projections:
            projection.build((None, sum(tree.flatten(state_size))))

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: For each layer, the topmost first, and each direction the list of a
                cell's states, `[batch, size]` each.

        Returns:
            The list of the cell's states, `[batch, size]` each.
        """
        together = ops.concatenate(tree.flatten(encoder_states), axis=-1)
        return [projection(together) for projection in self.projections]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "state_size": list(self.state_size)}


@keras.saving.register_keras_serializable("kerasnmt")
class ZeroBridge(keras.layers.Layer):
    """s_0 = 0: the decoder gets information about the source only through its attention.

    Args:
        state_size: Sizes of the decoder cell's states, its `state_size`.
    """

    def __init__(self, state_size: Sequence[int], **kwargs) -> None:
        super().__init__(**kwargs)
        self.state_size = list(state_size)

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Return the first states of the decoder cell.

        Args:
            encoder_states: See `DenseBridge`; only the batch size is used.

        Returns:
            The list of the cell's states, zeros of shape `[batch, size]` each.
        """
        column = ops.zeros_like(encoder_states[0][0][0][:, :1])
        return [ops.tile(column, (1, size)) for size in self.state_size]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "state_size": list(self.state_size)}
