"""The vocabulary projection that shares the target embeddings."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.vocabulary_projection import VocabularyProjection


@keras.saving.register_keras_serializable("kerasnmt")
class TiedVocabularyProjection(VocabularyProjection):
    """p(y_t) = softmax(E t + b), E the target embeddings; the features have their size.

    Source: Press and Wolf (2017), "Using the output embedding to improve language models".

    Args:
        vocabulary_size: number of ids.
    """

    def build(self, features_shape: tuple, embeddings_shape: tuple | None = None) -> None:
        """Make the bias; the matrix belongs to the embeddings.

        Raises:
            ValueError: the features do not have the size of the embeddings.
        """
        if features_shape[-1] != embeddings_shape[-1]:
            raise ValueError(
                "Tied embeddings need a readout of the embedding's size. Received: "
                f"readout units={features_shape[-1]}, embedding_dim={embeddings_shape[-1]}. "
                "Make them equal, or do not tie."
            )
        self.bias = self.add_weight(shape=(self.vocabulary_size,), initializer="zeros", name="bias")

    def call(self, features: Any, embeddings: Any) -> Any:
        """Turn features `[..., embedding_dim]` into logits `[..., vocabulary]`."""
        embeddings = ops.cast(embeddings, features.dtype)
        return self._project(features, ops.transpose(embeddings))
