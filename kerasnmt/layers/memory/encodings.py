"""Encodings, which turn the words of a sentence into one vector."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite


@keras.saving.register_keras_serializable("kerasnmt")
class BagOfWords(Composite, keras.layers.Layer):
    """Bag of words, which ignores the order of the words. There are no weights.

        m_i = sum_j A x_ij

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1,
    "bag-of-words".
    """

    def call(self, embedded: Any, word_mask: Any) -> Any:
        """Sum the words of each sentence.

        Args:
            embedded: `[..., words, embedding_dim]`.
            word_mask: Boolean `[..., words]`, True = real word.

        Returns:
            `[..., embedding_dim]`, zeros for a sentence without words.
        """
        weights = ops.cast(ops.expand_dims(word_mask, -1), embedded.dtype)
        return ops.sum(embedded * weights, axis=-2)


@keras.saving.register_keras_serializable("kerasnmt")
class PositionEncoding(Composite, keras.layers.Layer):
    """Position encoding, which depends on the order of the words. There are no weights.

        m_i = sum_j l_j * A x_ij
        l_kj = scale ((1 - j / J) - (k / d) (1 - 2 j / J))

    Word j of J and feature k of d are counted from 1. J is the number of real words, so padding
    changes nothing.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1,
    "position encoding".

    Args:
        scale: Factor of l. The paper's equation has 1, which halves the embedded words on average.
            The authors' code has 2, which keeps their size on average, like a bag of words.
    """

    def __init__(self, scale: float = 1.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, embedded: Any, word_mask: Any) -> Any:
        """Sum the words of each sentence.

        Args:
            embedded: `[..., words, embedding_dim]`.
            word_mask: Boolean `[..., words]`, True = real word; padding is on the right.

        Returns:
            `[..., embedding_dim]`, zeros for a sentence without words.
        """
        mask = ops.cast(word_mask, "float32")
        count = ops.maximum(ops.sum(mask, axis=-1, keepdims=True), 1.0)
        position = ops.expand_dims(ops.cumsum(mask, axis=-1) / count, -1)  # j / J
        units = embedded.shape[-1]
        feature = ops.arange(1, units + 1, dtype="float32") / units  # k / d
        weights = (1.0 - position) - feature * (1.0 - 2.0 * position)
        weights = self.scale * weights * ops.expand_dims(mask, -1)
        return ops.sum(embedded * ops.cast(weights, embedded.dtype), axis=-2)
