"""Positions as waves."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class SinusoidalPositions(keras.layers.Layer):
    """Add to each word where it stands, as sines and cosines of many wavelengths.

        PE(p, 2i) = sin(p / 10000^(2i / n)),    PE(p, 2i + 1) = cos(p / 10000^(2i / n))

    There are no weights and there is no last position.

    Source: Vaswani et al. (2017), section 3.5.
    """

    def call(self, words: Any, position: Any = None) -> Any:
        """Add the positions to embedded words.

        Args:
            words: `[batch, length, units]`, or `[..., units]` where each comes with its position.
            position: the number of each word, from 0, int32 `[...]`; None counts along axis 1.

        Returns:
            the sums, as `words`.

        Raises:
            ValueError: the units are odd.
        """
        units = words.shape[-1]
        if units % 2:
            raise ValueError(
                "Expected an even number of units, of which sines and cosines have half each. "
                f"Received: units={units}"
            )
        if position is None:
            position = ops.arange(ops.shape(words)[1])
        steps = ops.arange(units // 2, dtype="float32")
        angles = ops.cast(position, "float32")[..., None] * 10000.0 ** (-2.0 / units * steps)
        waves = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
        return words + ops.cast(ops.reshape(waves, (*ops.shape(position), units)), words.dtype)

    def check_length(self, length: int) -> None:
        """Refuse a text of more words than there are positions: here, none."""
