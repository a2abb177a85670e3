"""The bridge of Bahdanau et al. (2015) from the encoder to the decoder."""

from typing import Any

import keras


@keras.saving.register_keras_serializable("kerasnmt")
class BackwardStateBridge(keras.layers.Layer):
    """s_0 = tanh(W h_1 backward): the first decoder state, from the encoder's backward state.

    The backward state has read the whole source and ends at its first word, near which most
    translations begin.

    Source: Bahdanau, Cho and Bengio (2015), appendix A.2.2.

    Args:
        units: size of the decoder's state.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.projection = keras.layers.Dense(
            units, activation="tanh", dtype=self.dtype_policy, name="projection"
        )

    def build(self, encoder_units: int) -> None:
        """Make the weights for encoder states of this size."""
        self.projection.build((None, encoder_units))

    def call(self, encoder_states: tuple[Any, Any]) -> list[Any]:
        """Make the decoder cell's first state.

        Args:
            encoder_states: `(forward, backward)`, each `[batch, encoder_units]`.

        Returns:
            the list of the cell's states: one tensor `[batch, units]`.
        """
        _, backward = encoder_states
        return [self.projection(backward)]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
