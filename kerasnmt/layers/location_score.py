"""A score that looks at the query alone."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.score import Score


@keras.saving.register_keras_serializable("kerasnmt")
class LocationScore(Score):
    """e = W s: the query says at which positions to look, whatever stands there.

    For a source of length S the first S rows of W are used; what lies beyond `max_length`
    positions is not attended to.

    Source: Luong, Pham and Manning (2015), equation 8.

    Args:
        max_length: number of source positions that can be attended to.
    """

    def __init__(self, max_length: int = 100, **kwargs) -> None:
        super().__init__(**kwargs)
        self.max_length = max_length
        self.query_projection = keras.layers.Dense(
            max_length, use_bias=False, dtype=self.dtype_policy, name="query_projection"
        )

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Make the weights for a query `(..., query_units)`; the keys' contents do not matter."""
        self.query_projection.build(query_shape)

    def call(self, query: Any, keys: Any) -> Any:
        """Score every position.

        Args:
            query: `[batch, query_units]` or `[batch, target_length, query_units]`.
            keys: `[batch, source_length, ...]`.

        Returns:
            scores, float32, `[batch, source_length]` or `[batch, target_length, source_length]`.
        """
        positions = ops.arange(ops.shape(keys)[1])
        scores = ops.cast(on_rows(self.query_projection, query), "float32")
        scores = ops.take(scores, ops.minimum(positions, self.max_length - 1), axis=-1)
        return ops.where(positions < self.max_length, scores, -1e9)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "max_length": self.max_length}
