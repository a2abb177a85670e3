"""Sentences as vectors, for the memory of a memory network."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.composite import Composite


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryEmbedding(Composite, keras.layers.Layer):
    """m_i = sum_j l_j * A x_ij + T(i): one matrix A of words, and one, T, of ages.

    Both begin as normal numbers with a deviation of 0.1. Padding is the null vector.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1.

    Args:
        vocabulary_size: number of word ids.
        embedding_dim: d, size of an encoded sentence.
        encoding: how words make a sentence, `PositionEncoding()` or `BagOfWords()`.
        max_sentences: number of ages that T has a row for; None for a memory without time, or a
            question.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        encoding: keras.layers.Layer,
        max_sentences: int | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.embedding_dim = embedding_dim
        self.encoding = encoding
        self.max_sentences = max_sentences
        self.words = self._matrix(vocabulary_size, "words")
        self.times = max_sentences and self._matrix(max_sentences, "times")

    def _matrix(self, size: int, name: str) -> keras.layers.Layer:
        return keras.layers.Embedding(
            size,
            self.embedding_dim,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, ids_shape: Any = None) -> None:
        """Make the matrices; their shapes do not depend on the inputs."""
        build_once(self.words, None)
        if self.times is not None:
            build_once(self.times, None)

    def call(self, ids: Any, ages: Any = None) -> Any:
        """Encode sentences.

        Args:
            ids: int32 `[..., words]`, padded on the right with 0.
            ages: int32 `[...]` for T(i), or None to leave it out, as for a question.

        Returns:
            `[..., embedding_dim]`.
        """
        encoded = self.encoding(self.words(ids), ops.not_equal(ids, PAD_ID))
        if ages is None or self.times is None:
            return encoded
        return encoded + self.times(ages)
