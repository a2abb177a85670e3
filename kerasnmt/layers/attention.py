"""Attention over a memory, whatever the score."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.masked_softmax import masked_softmax


@keras.saving.register_keras_serializable("kerasnmt")
class Attention(keras.layers.Layer):
    """A score, a window, a masked softmax and the weighted sum of the values.

        alpha_i = softmax_i(score(s, h_i)),    c = sum_i alpha_i v_i

    Any score goes with any window. Without a window the attention is global: the softmax is over
    the whole source.

    Project the memory once a source, then ask as often as there are queries:

        keys = attention.project(memory)
        context, weights = attention(query, keys, values=memory, memory_mask=mask)

    Keys and values may differ: `values` is any tensor with the memory's length. Nothing is kept
    between calls.

    Args:
        score: a score layer, with `project(memory)` and `score(query, keys)`; for example
            `AdditiveScore(units=256)`.
        window: a window layer, for example `LocalMonotonicWindow(width=10)`, or None for global
            attention.
    """

    def __init__(
        self, score: keras.layers.Layer, window: keras.layers.Layer | None = None, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        self.score = score
        self.window = window

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Make the weights of the score and of the window.

        Args:
            query_shape: `(..., query_units)`.
            keys_shape: `(batch, source_length, key_units)`.
        """
        build_once(self.score, query_shape, keys_shape)
        if self.window is not None:
            build_once(self.window, query_shape)

    def project(self, memory: Any) -> Any:
        """Turn a memory `[batch, source_length, memory_units]` into the score's keys."""
        return self.score.project(memory)

    def call(
        self,
        query: Any,
        keys: Any,
        values: Any,
        memory_mask: Any = None,
        position: Any = None,
    ) -> tuple[Any, Any]:
        """Attend to the values.

        Args:
            query: `[batch, query_units]`, or `[batch, target_length, query_units]` for several
                queries to the same memory.
            keys: what `project` returned, `[batch, source_length, key_units]`.
            values: `[batch, source_length, value_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token, or None.
            position: number of the target word that asks, from 0, `[batch]` or
                `[batch, target_length]`; for a window that moves with it.

        Returns:
            context `[batch, value_units]` or `[batch, target_length, value_units]`, and
            weights, float32, `[batch, source_length]` or `[batch, target_length, source_length]`;
            exactly 0 where masked, all zeros where no source position is real.
        """
        mask = memory_mask
        if mask is not None and len(query.shape) == 3:
            mask = ops.expand_dims(mask, 1)
        scores = self.score(query, keys)
        if self.window is None:
            weights = masked_softmax(scores, mask)
        else:
            inside, factor = self.window(query, keys, memory_mask, position)
            mask = inside if mask is None else ops.logical_and(mask, inside)
            weights = masked_softmax(scores, mask) * factor
        return weighted_sum(weights, values), weights

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "score": keras.saving.serialize_keras_object(self.score),
            "window": keras.saving.serialize_keras_object(self.window),
        }

    @classmethod
    def from_config(cls, config: dict) -> "Attention":
        """Make the layer from `get_config`."""
        config = dict(config)
        for name in ("score", "window"):
            config[name] = keras.saving.deserialize_keras_object(config[name])
        return cls(**config)


def weighted_sum(weights: Any, values: Any) -> Any:
    """Sum values by attention weights: c = sum_i alpha_i v_i.

    Args:
        weights: `[batch, source_length]` or `[batch, target_length, source_length]`.
        values: `[batch, source_length, value_units]`.

    Returns:
        `[batch, value_units]` or `[batch, target_length, value_units]`, in the dtype of the values.
    """
    weights = ops.cast(weights, values.dtype)
    if len(weights.shape) == 3:
        return ops.matmul(weights, values)
    return ops.squeeze(ops.matmul(ops.expand_dims(weights, 1), values), 1)
