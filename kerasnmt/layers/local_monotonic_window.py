"""The window that moves on by one word a step."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.source_lengths import source_lengths


@keras.saving.register_keras_serializable("kerasnmt")
class LocalMonotonicWindow(keras.layers.Layer):
    """Attend only to [p_t - D, p_t + D] with p_t = t: source and target run side by side.

    Target words t and source positions count from 0. Where the target is longer than the source,
    p_t stays at the last source position.

    Source: Luong, Pham and Manning (2015), section 3.2, "local-m".

    Args:
        width: D, in words to each side; at least 1.
    """

    # Attention has to be told the number of the word.
    moves = True

    def __init__(self, width: int = 10, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if width < 1:
            raise ValueError(f"Expected a width of at least 1 word. Received: width={width}")
        self.width = width

    def build(self, query_shape: tuple) -> None:
        """Make nothing: the window has no weights."""

    def call(
        self, query: Any, keys: Any, memory_mask: Any, position: Any = None
    ) -> tuple[Any, Any]:
        """Say which positions can be attended to.

        Args:
            query: `[batch, units]` or `[batch, target_length, units]`; not used.
            keys: `[batch, source_length, ...]`, for the length.
            memory_mask: boolean `[batch, source_length]`, or None.
            position: number of the target word, from 0, `[batch]` or `[batch, target_length]`;
                None counts the queries of a whole target.

        Returns:
            inside, boolean `[..., source_length]`; and the factor of the weights, 1.

        Raises:
            ValueError: there is one query, and no position.
        """
        if position is None:
            if len(query.shape) != 3:
                raise ValueError(
                    "Expected position, the number of the target word that asks, int32 [batch]. "
                    "Received: position=None, with one query a row."
                )
            position = ops.arange(ops.shape(query)[1], dtype="int32")[None]
        lengths = source_lengths(keys, memory_mask, rank=len(query.shape))
        centre = ops.minimum(ops.cast(position, "float32"), lengths - 1.0)
        places = ops.arange(ops.shape(keys)[1], dtype="float32")
        return ops.abs(places - centre[..., None]) <= self.width, 1.0

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "width": self.width}
