"""The bridge that makes the decoder's states of everything."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops, tree


@keras.saving.register_keras_serializable("kerasnmt")
class DenseBridge(keras.layers.Layer):
    """s_0 = tanh(W h + b), where h are all last states of the encoder side by side.

    It fits any encoder to any decoder cell; each state of the decoder has a W of its own.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", appendix A.1.1 (c = tanh(V h)).

    Args:
        state_size: sizes of the decoder cell's states, its `state_size`.
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
            encoder_states: the topmost layer's first; for each layer and each of its directions
                the list of a cell's states `[batch, size]`.

        Returns:
            the list of the cell's states, each `[batch, size]`.
        """
        together = ops.concatenate(tree.flatten(encoder_states), axis=-1)
        return [projection(together) for projection in self.projections]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "state_size": list(self.state_size)}
