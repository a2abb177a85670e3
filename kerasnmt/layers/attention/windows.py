"""Windows: the source positions that local attention sees."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.shapes import mask_of, real_positions
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.on_rows import on_rows


class _Window(Composite, keras.layers.Layer):
    """Base class of windows with a number of words on each side."""

    def __init__(self, width: int = 10, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if width < 1:
            raise ValueError(f"Expected a width of at least 1 word. Received: width={width}")
        self.width = width


@keras.saving.register_keras_serializable("kerasnmt")
class LocalMonotonicWindow(_Window):
    """Window of local attention for monotonic alignments: [p_t - D, p_t + D] with p_t = t.

    Target words t and source positions are counted from 0, without padding. For target words beyond
    the length of the source, p_t is the last source position.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.2, "local-m".

    Args:
        width: D, the number of words on each side; at least 1.
    """

    # The window depends on the position of the target word.
    moves = True

    def call(
        self, query: Any, keys: Any, memory_mask: Any, position: Any = None
    ) -> tuple[Any, Any]:
        """Return the positions inside the window.

        Args:
            query: `[batch, units]` or `[batch, target_length, units]`; only its shape is used.
            keys: `[batch, source_length, ...]`; only its length is used.
            memory_mask: Boolean `[batch, source_length]`, or None.
            position: Index of the target word, counted from 0, int32 `[batch]` or
                `[batch, target_length]`. If None, the queries are numbered 0, 1, 2, … along the
                target.

        Returns:
            A boolean mask `[..., source_length]`, True inside the window; and 1, the factor of the
            attention weights.

        Raises:
            ValueError: If there is one query per row and no position.
        """
        if position is None:
            if len(query.shape) != 3:
                raise ValueError(
                    "Expected position, the index of the target word, int32 [batch], because there "
                    "is one query per row. Received: position=None"
                )
            position = ops.arange(ops.shape(query)[1], dtype="int32")[None]
        positions = real_positions(mask_of(query, keys, memory_mask))
        centre = ops.minimum(ops.cast(position, "float32"), positions[..., -1])
        return ops.abs(positions - centre[..., None]) <= self.width, 1.0


@keras.saving.register_keras_serializable("kerasnmt")
class LocalPredictiveWindow(_Window):
    """Window of local attention at a predicted position: [p_t - D, p_t + D].

        p_t = S sigmoid(v^T tanh(W s_t))
        alpha_{t,i} = softmax_i(e_t) exp(-(i - p_t)^2 / (2 sigma^2)),    sigma = D / 2

    S is the length of the source, and i its positions, counted from 0, both without padding. The
    softmax covers the window. Its factor gives p_t a gradient, and makes the weights sum to less
    than 1.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.2, "local-p", equations 9 and 10.

    Args:
        units: Size of the hidden layer, the number of rows of W.
        width: D, the number of words on each side; at least 1.
    """

    # The window does not depend on the position of the target word.
    moves = False

    def __init__(self, units: int, width: int = 10, **kwargs) -> None:
        super().__init__(width, **kwargs)
        self.units = units
        dtype = self.dtype_policy
        self.hidden = keras.layers.Dense(
            units, activation="tanh", use_bias=False, dtype=dtype, name="hidden"
        )
        self.place = keras.layers.Dense(1, use_bias=False, dtype=dtype, name="place")

    def build(self, query_shape: tuple) -> None:
        """Create the weights for a query `(..., query_units)`."""
        build_once(self.hidden, query_shape)
        build_once(self.place, (*query_shape[:-1], self.units))

    def call(
        self, query: Any, keys: Any, memory_mask: Any, position: Any = None
    ) -> tuple[Any, Any]:
        """Return the positions inside the window, and the factors of their attention weights.

        Args:
            query: `[batch, units]` or `[batch, target_length, units]`.
            keys: `[batch, source_length, ...]`; only its length is used.
            memory_mask: Boolean `[batch, source_length]`, or None.
            position: Not used.

        Returns:
            A boolean mask `[..., source_length]`, True inside the window; and the factors of the
            attention weights, float32 `[..., source_length]`.
        """
        positions = real_positions(mask_of(query, keys, memory_mask))
        share = on_rows(lambda rows: self.place(self.hidden(rows)), query)
        share = ops.sigmoid(ops.cast(share, "float32"))
        length = positions[..., -1:] + 1.0
        distance = positions - length * share
        return ops.abs(distance) <= self.width, ops.exp(-2.0 * ops.square(distance / self.width))
