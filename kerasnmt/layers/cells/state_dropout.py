"""Dropout of recurrent states with one mask for all steps."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite


@keras.saving.register_keras_serializable("kerasnmt")
class StateDropout(Composite, keras.layers.Layer):
    """Dropout of recurrent states with one mask for all steps of a sequence.

        U h_{t-1} becomes U (m * h_{t-1}),    m_i = 1 / (1 - rate) with probability 1 - rate, else 0

    One mask serves all gates. Only the state that enters the matrix product is masked. The c of an
    LSTM, and the part of h that a GRU carries over without a product, are not masked: the same mask
    in every step would make them vanish or grow.

    The masks are additional states, which the cells of this package pass on unchanged.
    `RecurrentLayer` and `DecoderCell` add them to the first states in training only, so nothing
    else depends on them. The layer draws them with its own seed generator.

    Source: Gal and Ghahramani (2016), "A theoretically grounded application of dropout in recurrent
    neural networks", equation 7 with tied weights.

    Args:
        rate: Dropout rate of the states, in [0, 1).
        mask_size: Sizes of the masks: the `mask_size` of a cell. If it is empty, the cell takes no
            masks, and `rate` must be 0.

    Raises:
        ValueError: If the rate is out of range, or above 0 for a cell that takes no masks.
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
                "Expected a recurrent cell that takes masks of its states: GRUCell, LSTMCell, "
                "SimpleRNNCell or StackedCell, not FusedCell. "
                f"Received: state_dropout={rate}. Choose another cell, or state_dropout=0."
            )
        self.rate = rate
        self.mask_size = list(mask_size)
        if rate:
            self.seed_generator = keras.random.SeedGenerator()

    def call(self, states: list[Any], training: bool = False) -> list[Any]:
        """Append masks to the first states of a sequence.

        Args:
            states: List of the first states of a cell, `[batch, size]` each.
            training: Whether dropout applies.

        Returns:
            The list of the states. In training, the masks follow, `[batch, size]` each.
        """
        if not (training and self.rate):
            return list(states)
        column = ops.ones_like(states[0][:, :1])
        masks = [
            keras.random.dropout(ops.tile(column, (1, size)), self.rate, seed=self.seed_generator)
            for size in self.mask_size
        ]
        return [*states, *masks]


def mask_state(state: Any, masks: Sequence[Any]) -> Any:
    """Return the state for a matrix product: m * h if there is a mask m, else h."""
    return ops.multiply(state, *masks) if masks else state
