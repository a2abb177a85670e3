"""Positions with embeddings of their own."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class LearnedPositions(keras.layers.Layer):
    """Add to each word where it stands, as a vector learned for that position.

    Source: Gehring et al. (2017), "Convolutional sequence to sequence learning", section 3.1, which
    Vaswani et al. (2017), section 3.5, compare with waves.

    Args:
        max_length: how many positions there are. Where a length is known only when a graph runs,
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
            ValueError: there are more words than positions.
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
            ValueError: it has more.
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
