"""Sentences as sums of their words."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class BagOfWords(keras.layers.Layer):
    """m_i = sum_j A x_ij: the order of the words is lost; there are no weights.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1,
    "bag-of-words".
    """

    def call(self, embedded: Any, word_mask: Any) -> Any:
        """Sum up the words of each sentence.

        Args:
            embedded: `[..., words, embedding_dim]`.
            word_mask: boolean `[..., words]`, True = real word.

        Returns:
            `[..., embedding_dim]`; zeros where a sentence has no words.
        """
        weights = ops.cast(ops.expand_dims(word_mask, -1), embedded.dtype)
        return ops.sum(embedded * weights, axis=-2)
