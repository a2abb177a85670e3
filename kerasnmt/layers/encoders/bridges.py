"""Bridges: the decoder's first states, made of the encoder's last states."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops, tree


@keras.saving.register_keras_serializable("kerasnmt")
class BackwardStateBridge(keras.layers.Layer):
    """s_0 = tanh(W h_1 backward + b): the first decoder state, from the encoder's backward state.

    The backward state has read the whole source and ends at its first word, near which most
    translations begin. It is that of the topmost layer of the encoder; of a layer with one
    direction, the state of that one. Where the cells have several states (LSTM), each has a W of
    its own.

    Source: Bahdanau, Cho and Bengio (2015), appendix A.2.2, whose equation has no bias b.

    Args:
        units: Size of the decoder's state.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units

    def build(self, state_size: list) -> None:
        """Make the weights for encoder states of these sizes, nested as the states of `call`."""
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
        """Make the decoder cell's first states.

        Args:
            encoder_states: The topmost layer's first; for each layer and each of its directions
                the list of a cell's states `[batch, size]`. The last direction is the backward one.

        Returns:
            The list of the cell's states, each `[batch, units]`.
        """
        (*_, backward), *_ = encoder_states
        pairs = zip(self.projections, backward, strict=True)
        return [projection(state) for projection, state in pairs]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable("kerasnmt")
class LastStateBridge(keras.layers.Layer):
    """s_0 = h_S: each layer of the decoder begins with the last states of the encoder's.

    The directions of a layer are put side by side, so a decoder cell has as many units as they
    have together. There are no weights.

    Source: Sutskever, Vinyals and Le (2014); Luong, Pham and Manning (2015).
    """

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Make the decoder cell's first states.

        Args:
            encoder_states: The topmost layer's first; for each layer and each of its directions
                the list of a cell's states `[batch, size]`.

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
    """s_0 = tanh(W h + b), where h are all last states of the encoder side by side.

    It fits any encoder to any decoder cell; each state of the decoder has a W of its own.

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
        """Make the weights for encoder states of these sizes, nested as the states of `call`."""
        for projection in self.projections:
            projection.build((None, sum(tree.flatten(state_size))))

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Make the decoder cell's first states.

        Args:
            encoder_states: The topmost layer's first; for each layer and each of its directions
                the list of a cell's states `[batch, size]`.

        Returns:
            The list of the cell's states, each `[batch, size]`.
        """
        together = ops.concatenate(tree.flatten(encoder_states), axis=-1)
        return [projection(together) for projection in self.projections]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "state_size": list(self.state_size)}


@keras.saving.register_keras_serializable("kerasnmt")
class ZeroBridge(keras.layers.Layer):
    """s_0 = 0: all that the decoder knows of the source comes through its attention.

    Args:
        state_size: Sizes of the decoder cell's states, its `state_size`.
    """

    def __init__(self, state_size: Sequence[int], **kwargs) -> None:
        super().__init__(**kwargs)
        self.state_size = list(state_size)

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Make the decoder cell's first states.

        Args:
            encoder_states: As other bridges take them; only the batch's size is used.

        Returns:
            The list of the cell's states, zeros `[batch, size]`.
        """
        column = ops.zeros_like(encoder_states[0][0][0][:, :1])
        return [ops.tile(column, (1, size)) for size in self.state_size]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "state_size": list(self.state_size)}
