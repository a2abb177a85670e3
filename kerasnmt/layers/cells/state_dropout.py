"""Dropout of recurrent states, with one mask for all steps."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class StateDropout(keras.layers.Layer):
    """Masks of a recurrent cell's states, drawn once for all steps of a sequence.

        U h_{t-1} becomes U (m * h_{t-1}),    m_i = 1 / (1 - rate) with probability 1 - rate, else 0

    It is what enters the product that is masked, as if rows of the recurrent weights were dropped;
    one mask serves all gates. An LSTM's c, and the part of h that a GRU carries on without a
    product, stay as they are: masked anew at each step they would vanish or grow.

    The masks ride along as further states, which the cells of this package hand on as they came.
    `RecurrentLayer` and `DecoderCell` begin with them in training, and with none otherwise, so that
    nothing else has to know. They are random numbers of this layer's generator.

    Source: Gal and Ghahramani (2016), "A theoretically grounded application of dropout in recurrent
    neural networks", equation 7 with tied weights.

    Args:
        rate: Share of the states' features that is dropped in training, in [0, 1).
        mask_size: Sizes of the masks, a cell's `mask_size`; empty for a cell that takes none, whose
            rate has to be 0.

    Raises:
        ValueError: If the rate is out of range, or there is nothing to be dropped.
    """

    def __init__(self, rate: float, mask_size: Sequence[int], **kwargs) -> None:
        super().__init__(**kwargs)
        if not 0.0 <= rate < 1.0:
            raise ValueError(
                "Expected 0 <= state_dropout < 1; a usual value is 0.2. "
                f"Received: state_dropout={rate}"
            )
        if rate and not mask_size:
            raise ValueError(
                "Expected a recurrent cell that takes masks of its states, as GRUCell, LSTMCell, "
                "SimpleRNNCell and StackedCell do, and FusedCell does not. "
                f"Received: state_dropout={rate}. Choose another cell, or no dropout of states."
            )
        self.rate = rate
        self.mask_size = list(mask_size)
        if rate:
            self.seed_generator = keras.random.SeedGenerator()

    def call(self, states: list[Any], training: bool = False) -> list[Any]:
        """Add the masks of a sequence to its first states.

        Args:
            states: A cell's first states, `[batch, size]` each.
            training: Whether dropout applies.

        Returns:
            The states and, in training, the masks after them, `[batch, size]` each.
        """
        if not (training and self.rate):
            return list(states)
        column = ops.ones_like(states[0][:, :1])
        masks = [
            keras.random.dropout(ops.tile(column, (1, size)), self.rate, seed=self.seed_generator)
            for size in self.mask_size
        ]
        return [*states, *masks]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "rate": self.rate, "mask_size": list(self.mask_size)}


def mask_state(state: Any, masks: Sequence[Any]) -> Any:
    """Return what of a state enters a product: m * h where there is a mask, else h."""
    return ops.multiply(state, *masks) if masks else state
