"""One look into a memory."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention import weighted_sum
from kerasnmt.layers.dot_score import DotScore
from kerasnmt.layers.masked_softmax import masked_softmax


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryHop(keras.layers.Layer):
    """p_i = softmax_i(u^T m_i), o = sum_i p_i c_i.

    This is attention with the dot product as its score, which can leave out its softmax: with
    `linear` at 1, p_i = u^T m_i. A training that begins so finds better minima ("linear start");
    `kerasnmt.training.LinearStart` sets `linear` in `fit`. It is a variable that is saved and never
    trained, 0 in a new layer.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", equations 1
    and 2, and section 4.2, "linear start".
    """

    def build(self, query_shape: tuple, keys_shape: tuple, values_shape: tuple) -> None:
        """Make `linear`, and check that queries have the size of the keys."""
        self.score = DotScore(dtype=self.dtype_policy, name="score")
        self.score.build(query_shape, keys_shape)
        self.linear = self.add_weight(
            shape=(), initializer="zeros", trainable=False, autocast=False, name="linear"
        )

    def call(self, query: Any, keys: Any, values: Any, memory_mask: Any) -> tuple[Any, Any]:
        """Look once.

        Args:
            query: u, `[batch, units]`.
            keys: m, `[batch, sentences, units]`.
            values: c, `[batch, sentences, value_units]`.
            memory_mask: boolean `[batch, sentences]`, True = real sentence.

        Returns:
            o `[batch, value_units]`, and p, float32 `[batch, sentences]`: exactly 0 where masked,
            all zeros where no sentence is real.
        """
        scores = self.score(query, keys)
        weights = ops.where(
            self.linear > 0.5,
            ops.where(memory_mask, scores, 0.0),
            masked_softmax(scores, memory_mask),
        )
        return weighted_sum(weights, values), weights
