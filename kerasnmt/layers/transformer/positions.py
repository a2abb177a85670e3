"""Position encodings and position embeddings of words."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite


@keras.saving.register_keras_serializable("kerasnmt")
class SinusoidalPositions(Composite, keras.layers.Layer):
    """Position encoding: adds sines and cosines of many wavelengths to each word.

        PE(p, 2i) = sin(p / 10000^(2i / n)),    PE(p, 2i + 1) = cos(p / 10000^(2i / n))

    There are no weights and no maximum length.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, words_shape: tuple) -> None:
        """Check the number of units. There are no weights.

        Raises:
            ValueError: If the number of units is odd.
        """
        if words_shape[-1] % 2:
            raise ValueError(
                "Expected an even number of units, half for sines and half for cosines. "
                f"Received: units={words_shape[-1]}"
            )

    def call(self, words: Any, position: Any = None) -> Any:
        """Add the positions to embedded words.

        Args:
            words: `[batch, length, units]`, or `[..., units]` with `position`.
            position: Position of each word, counted from 0, int32 `[...]`. If None, the words are
                numbered along axis 1.

        Returns:
            The sums, with the shape of `words`.
        """
        units = words.shape[-1]
        if position is None:
            position = ops.arange(ops.shape(words)[1], dtype="int32")
        features = ops.arange(units, dtype="int32")
        lengths = 10000.0 ** (-2.0 / units * ops.cast(features // 2, "float32"))
        angles = ops.cast(position, "float32")[..., None] * lengths
        waves = ops.where(features % 2 == 0, ops.sin(angles), ops.cos(angles))
        return words + ops.cast(waves, words.dtype)

    def check_length(self, length: Any) -> None:
        """Do nothing: there is no maximum length."""


@keras.saving.register_keras_serializable("kerasnmt")
class LearnedPositions(Composite, keras.layers.Layer):
    """Position embedding: adds a learned embedding of its position to each word.

    If the lengths are unknown when a graph is traced, as in a graph for batches of texts, this
    layer does not check them. TensorFlow on a CPU rejects longer texts ("indices ... not in [0,
    max_length)"); other devices do not. Truncate the texts first, for example with `max_length` of
    `kerasnmt.data.batches`.

    Source: Gehring et al. (2017), "Convolutional sequence to sequence learning", section 3.1.
    Vaswani et al. (2017), "Attention is all you need", section 3.5, compare it with sines and
    cosines.

    Args:
        max_length: Number of positions.
    """

    def __init__(self, max_length: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.max_length = max_length

    def build(self, words_shape: tuple) -> None:
        """Create the embeddings for words `(..., units)`."""
        self.embeddings = self.add_weight(
            shape=(self.max_length, words_shape[-1]),
            # One fiftieth of the size of the scaled word embeddings.
            initializer=keras.initializers.RandomNormal(stddev=0.02),
            name="embeddings",
        )

    def call(self, words: Any, position: Any = None) -> Any:
        """Add the positions to embedded words; see `SinusoidalPositions.call` for the arguments.

        Raises:
            ValueError: If there are more words than positions.
        """
        if position is None:
            length = ops.shape(words)[1]
            self.check_length(length)
            position = ops.arange(length, dtype="int32")
        return words + ops.cast(ops.take(self.embeddings, position, axis=0), words.dtype)

    def check_length(self, length: Any) -> None:
        """Check that there are enough positions for a text.

        Args:
            length: Number of words. A tensor, as in a graph of unknown lengths, is not checked.

        Raises:
            ValueError: If `length` is above `max_length`.
        """
        if isinstance(length, int) and length > self.max_length:
            raise ValueError(
                f"Expected at most {self.max_length} words, the number of learned positions. "
                f"Received: {length} words. Use a greater max_length of LearnedPositions, a lower "
                "max_length of the texts and the search, or SinusoidalPositions."
            )
