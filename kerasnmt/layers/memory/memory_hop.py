"""Hop of a memory network."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.attention.masked_softmax import masked_softmax
from kerasnmt.layers.attention.scores import DotScore
from kerasnmt.layers.composite import Composite, build_once


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryHop(Composite, keras.layers.Layer):
    """One hop of a memory network: attention with the dot product as its score.

        p_i = softmax_i(u^T m_i),    o = sum_i p_i c_i

    The variable `linear` switches the softmax off: if it is 1, p_i = u^T m_i. Training that starts
    without the softmax finds better minima ("linear start"); `kerasnmt.training.LinearStart` sets
    `linear` in `fit`. In a new layer, the variable is 0. It is saved but not trained.

    With `places`, a story with fewer sentences leaves places of the memory empty. Each empty place
    takes part in the softmax with the score 0. So the weights of the sentences are low unless their
    scores are well above 0, and a question can attend to nothing. A longer story has no empty
    places, and all its sentences are read.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", equations 1
    and 2, and section 4.2, "linear start". The empty places follow the authors' code.

    Args:
        places: Number of places in the memory, or None for the number of sentences of each story.
            The authors' code uses the number of sentences of the longest story, at most 50.

    Raises:
        ValueError: If `places` is below 1.
    """

    def __init__(self, places: int | None = None, **kwargs) -> None:
        super().__init__(**kwargs)
        if places is not None and places < 1:
            raise ValueError(f"Expected places >= 1, or None. Received: places={places}")
        self.places = places
        self.score = DotScore(dtype=self.dtype_policy, name="score")

    def build(self, query_shape: tuple, keys_shape: tuple, values_shape: tuple) -> None:
        """Create `linear`, and check that queries and keys have the same size."""
        build_once(self.score, query_shape, keys_shape)
        self.linear = self.add_weight(
            shape=(), initializer="zeros", trainable=False, autocast=False, name="linear"
        )

    def call(self, query: Any, keys: Any, values: Any, memory_mask: Any) -> tuple[Any, Any]:
        """Attend to the memory once.

        Args:
            query: u, `[batch, units]`.
            keys: m, `[batch, sentences, units]`.
            values: c, `[batch, sentences, value_units]`.
            memory_mask: Boolean `[batch, sentences]`, True = real sentence.

        Returns:
            o, `[batch, value_units]`, and p, float32 `[batch, sentences]`. Masked sentences have a
            weight of exactly 0. If a story has no real sentence, all its weights are 0. If the
            softmax weights sum to less than 1, the rest belongs to empty places.
        """
        scores = self.score(query, keys)
        weights = ops.where(
            self.linear > 0.5,
            ops.where(memory_mask, scores, 0.0),
            self._softmax(scores, memory_mask),
        )
        return weighted_sum(weights, values), weights

    def _softmax(self, scores: Any, memory_mask: Any) -> Any:
        """Return the softmax over the real sentences and the empty places."""
        if self.places is None:
            return masked_softmax(scores, memory_mask)
        sentences = ops.sum(ops.cast(memory_mask, "float32"), axis=-1, keepdims=True)
        empty = self.places - sentences
        # All empty places together act as one place with the score log(empty).
        scores = ops.concatenate([scores, ops.log(ops.maximum(empty, 1.0))], axis=-1)
        mask = ops.concatenate([memory_mask, empty > 0], axis=-1)
        return masked_softmax(scores, mask)[:, :-1]
