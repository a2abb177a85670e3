"""Positions of words."""

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
            position: The number of each word, from 0, int32 `[...]`; None counts along axis 1.

        Returns:
            The sums, as `words`.

        Raises:
            ValueError: If the units are odd.
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


@keras.saving.register_keras_serializable("kerasnmt")
class LearnedPositions(keras.layers.Layer):
    """Add to each word where it stands, as a vector learned for that position.

    Source: Gehring et al. (2017), "Convolutional sequence to sequence learning", section 3.1, which
    Vaswani et al. (2017), section 3.5, compare with waves.

    Args:
        max_length: How many positions there are. Where a length is known only when a graph runs,
            as those of batches of texts are, nothing is said of longer texts here: TensorFlow on
            the CPU refuses their positions ("indices ... not in [0, max_length)"), other devices
            do not. Cut the texts before, as `max_length` of `kerasnmt.data.batches` does.
    """

    def __init__(self, max_length: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.max_length = max_length

    def build(self, words_shape: tuple) -> None:
        """Make the embeddings for words `(..., units)`."""
        self.embeddings = self.add_weight(
            shape=(self.max_length, words_shape[-1]),
            # As large as those of words, once these are scaled, but for a factor of 50.
            initializer=keras.initializers.RandomNormal(stddev=0.02),
            name="embeddings",
        )

    def call(self, words: Any, position: Any = None) -> Any:
        """Add the positions to embedded words; arguments as in `SinusoidalPositions`.

        Raises:
            ValueError: If there are more words than positions.
        """
        if position is not None:
            return words + ops.cast(ops.take(self.embeddings, position, axis=0), words.dtype)
        length = ops.shape(words)[1]
        if isinstance(length, int):
            self.check_length(length)
        position = ops.arange(length)
        return words + ops.cast(ops.take(self.embeddings, position, axis=0), words.dtype)

    def check_length(self, length: int) -> None:
        """Refuse a text of more words than there are positions.

        Raises:
            ValueError: If it has more.
        """
        if length > self.max_length:
            raise ValueError(
                f"Expected at most {self.max_length} words, for so many the positions are learned. "
                f"Received: {length} words. Choose a greater max_length of LearnedPositions, a "
                "lower one of the texts and of the search, or SinusoidalPositions."
            )

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "max_length": self.max_length}
