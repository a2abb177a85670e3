"""One look into a memory."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.attention.masked_softmax import masked_softmax
from kerasnmt.layers.attention.scores import DotScore


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryHop(keras.layers.Layer):
    """p_i = softmax_i(u^T m_i), o = sum_i p_i c_i.

    This is attention with the dot product as its score, which can leave out its softmax: with
    `linear` at 1, p_i = u^T m_i. A training that begins so finds better minima ("linear start");
    `kerasnmt.training.LinearStart` sets `linear` in `fit`. It is a variable that is saved and never
    trained, 0 in a new layer.

    With `places`, a story that has fewer sentences leaves places of the memory empty. Empty places
    hold zeros, and the softmax counts them, each with the score 0: a question then looks away from
    all sentences unless their scores are well above 0, and can look at nothing. A story that has
    more is read whole, and leaves none.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", equations 1
    and 2, and section 4.2, "linear start". That the softmax counts empty places is in the authors'
    code.

    Args:
        places: Number of places in the memory, in the authors' code as many as the longest story
            has sentences, 50 at the most; None for as many as each story has.

    Raises:
        ValueError: If there is no place.
    """

    def __init__(self, places: int | None = None, **kwargs) -> None:
        super().__init__(**kwargs)
        if places is not None and places < 1:
            raise ValueError(f"Expected places >= 1, or None. Received: places={places}")
        self.places = places

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
            memory_mask: Boolean `[batch, sentences]`, True = real sentence.

        Returns:
            o `[batch, value_units]`, and p, float32 `[batch, sentences]`: exactly 0 where masked,
            all zeros where no sentence is real. With a softmax, what is missing to 1 lies on empty
            places.
        """
        scores = self.score(query, keys)
        weights = ops.where(
            self.linear > 0.5,
            ops.where(memory_mask, scores, 0.0),
            self._softmax(scores, memory_mask),
        )
        return weighted_sum(weights, values), weights

    def _softmax(self, scores: Any, memory_mask: Any) -> Any:
        """Normalise over the real sentences and the empty places."""
        if self.places is None:
            return masked_softmax(scores, memory_mask)
        sentences = ops.sum(ops.cast(memory_mask, "float32"), axis=-1, keepdims=True)
        empty = self.places - sentences
        # All empty places together are one with the score log(empty).
        scores = ops.concatenate([scores, ops.log(ops.maximum(empty, 1.0))], axis=-1)
        mask = ops.concatenate([memory_mask, empty > 0], axis=-1)
        return masked_softmax(scores, mask)[:, :-1]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "places": self.places}
