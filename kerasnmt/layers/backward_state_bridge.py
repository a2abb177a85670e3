"""The bridge of Bahdanau et al. (2015) from the encoder to the decoder."""

from typing import Any

import keras


@keras.saving.register_keras_serializable("kerasnmt")
class BackwardStateBridge(keras.layers.Layer):
    """s_0 = tanh(W h_1 backward + b): the first decoder state, from the encoder's backward state.

    The backward state has read the whole source and ends at its first word, near which most
    translations begin. It is that of the topmost layer of the encoder; of a layer with one
    direction, the state of that one. Where the cells have several states (LSTM), each has a W of
    its own.

    Source: Bahdanau, Cho and Bengio (2015), appendix A.2.2, whose equation has no bias b.

    Args:
        units: size of the decoder's state.
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
            encoder_states: the topmost layer's first; for each layer and each of its directions
                the list of a cell's states `[batch, size]`. The last direction is the backward one.

        Returns:
            the list of the cell's states, each `[batch, units]`.
        """
        (*_, backward), *_ = encoder_states
        pairs = zip(self.projections, backward, strict=True)
        return [projection(state) for projection, state in pairs]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
