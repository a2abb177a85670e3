"""Windows: the positions of the source that an attention sees."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import build_once
from kerasnmt.layers.products import on_rows


def source_lengths(keys: Any, memory_mask: Any, rank: int) -> Any:
    """Count the real positions of each source.

    Args:
        keys: `[batch, source_length, ...]`.
        memory_mask: Boolean `[batch, source_length]`, True = real token, or None: all are.
        rank: Rank of the query that asks.

    Returns:
        Float32 `[batch]` for a query of rank 2, `[batch, 1]` for one of rank 3.
    """
    if memory_mask is None:
        memory_mask = ops.ones(ops.shape(keys)[:2], "bool")
    return ops.sum(ops.cast(memory_mask, "float32"), axis=1, keepdims=rank == 3)


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
            memory_mask: Boolean `[batch, source_length]`, or None.
            position: Number of the target word, from 0, `[batch]` or `[batch, target_length]`;
                None counts the queries of a whole target.

        Returns:
            Inside, boolean `[..., source_length]`; and the factor of the weights, 1.

        Raises:
            ValueError: If there is one query, and no position.
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


@keras.saving.register_keras_serializable("kerasnmt")
class LocalPredictiveWindow(keras.layers.Layer):
    """Attend only to [p_t - D, p_t + D] with p_t = S sigmoid(v^T tanh(W s_t)).

    S is the true length of the source, whatever its padding; source positions i count from 0. The
    weights are multiplied by exp(-(i - p_t)^2 / (2 sigma^2)), sigma = D / 2, through which p_t
    learns; so they sum to less than 1.

    Source: Luong, Pham and Manning (2015), section 3.2, "local-p", equations 9 and 10.

    Args:
        units: Size of the hidden layer, the rows of W.
        width: D, in words to each side; at least 1.
    """

    # The number of the word does not matter.
    moves = False

    def __init__(self, units: int, width: int = 10, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if width < 1:
            raise ValueError(f"Expected a width of at least 1 word. Received: width={width}")
        self.units = units
        self.width = width
        dtype = self.dtype_policy
        self.hidden = keras.layers.Dense(
            units, activation="tanh", use_bias=False, dtype=dtype, name="hidden"
        )
        self.place = keras.layers.Dense(1, use_bias=False, dtype=dtype, name="place")

    def build(self, query_shape: tuple) -> None:
        """Make the weights for a query `(..., query_units)`."""
        build_once(self.hidden, query_shape)
        build_once(self.place, (*query_shape[:-1], self.units))

    def call(
        self, query: Any, keys: Any, memory_mask: Any, position: Any = None
    ) -> tuple[Any, Any]:
        """Say which positions can be attended to, and how near they are.

        Args:
            query: `[batch, units]` or `[batch, target_length, units]`.
            keys: `[batch, source_length, ...]`, for the length.
            memory_mask: Boolean `[batch, source_length]`, or None.
            position: Not used.

        Returns:
            Inside, boolean `[..., source_length]`; and the factor of the weights, float32
            `[..., source_length]`.
        """
        lengths = source_lengths(keys, memory_mask, rank=len(query.shape))
        share = on_rows(lambda rows: self.place(self.hidden(rows)), query)
        share = ops.sigmoid(ops.cast(share, "float32"))
        places = ops.arange(ops.shape(keys)[1], dtype="float32")
        distance = places - lengths[..., None] * share
        return ops.abs(distance) <= self.width, ops.exp(-2.0 * ops.square(distance / self.width))

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units, "width": self.width}
