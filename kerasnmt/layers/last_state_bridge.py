"""The bridge that hands the encoder's last states on."""

from typing import Any

import keras
from keras import ops


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
            encoder_states: the topmost layer's first; for each layer and each of its directions
                the list of a cell's states `[batch, size]`.

        Returns:
            the list of the cell's states, the topmost layer's first.
        """
        return [
            ops.concatenate(directions, axis=-1)
            for layer in encoder_states
            for directions in zip(*layer, strict=True)
        ]
