"""The bridge that hands nothing on."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class ZeroBridge(keras.layers.Layer):
    """s_0 = 0: all that the decoder knows of the source comes through its attention.

    Args:
        state_size: sizes of the decoder cell's states, its `state_size`.
    """

    def __init__(self, state_size: Sequence[int], **kwargs) -> None:
        super().__init__(**kwargs)
        self.state_size = list(state_size)

    def call(self, encoder_states: list[list[list[Any]]]) -> list[Any]:
        """Make the decoder cell's first states.

        Args:
            encoder_states: as other bridges take them; only the batch's size is used.

        Returns:
            the list of the cell's states, zeros `[batch, size]`.
        """
        column = ops.zeros_like(encoder_states[0][0][0][:, :1])
        return [ops.tile(column, (1, size)) for size in self.state_size]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "state_size": list(self.state_size)}
