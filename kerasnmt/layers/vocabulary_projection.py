"""The generator that projects features to a vocabulary."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.token_log_probability import token_log_probability


@keras.saving.register_keras_serializable("kerasnmt")
class VocabularyProjection(keras.layers.Layer):
    """p(y_t) = softmax(W t + b) over the target vocabulary, with weights of its own.

    A generator answers two questions about what it returned from `call`: the log-probability of
    every next id, for search, and the log-probability of given ids, for the loss.

    Args:
        vocabulary_size: number of ids.
    """

    def __init__(self, vocabulary_size: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size

    def build(self, features_shape: tuple, embeddings_shape: tuple | None = None) -> None:
        """Make the weights for features `(..., units)`."""
        self.kernel = self.add_weight(
            shape=(features_shape[-1], self.vocabulary_size),
            initializer="glorot_uniform",
            name="kernel",
        )
        self.bias = self.add_weight(shape=(self.vocabulary_size,), initializer="zeros", name="bias")

    def call(self, features: Any, embeddings: Any = None) -> Any:
        """Turn features into logits.

        Args:
            features: `[..., units]`.
            embeddings: the target embeddings `[vocabulary, embedding_dim]`, for the generators
                that share them; not used here.

        Returns:
            logits `[..., vocabulary]`.
        """
        return self._project(features, self.kernel)

    def _project(self, features: Any, kernel: Any) -> Any:
        # TensorFlow makes one op of the product of two matrices and a bias.
        return on_rows(lambda rows: ops.matmul(rows, kernel) + self.bias, features)

    def next_log_probability(self, logits: Any) -> Any:
        """Return log p of every id, float32 `[..., vocabulary]`."""
        return ops.log_softmax(ops.cast(logits, "float32"), axis=-1)

    def log_probability(self, logits: Any, ids: Any) -> tuple[Any, Any]:
        """Return log p of the given ids, and the mean of log p over the vocabulary.

        Args:
            logits: `[..., vocabulary]`, what `call` returned.
            ids: integers `[...]`.

        Returns:
            two float32 tensors `[...]`; the second serves label smoothing.
        """
        return token_log_probability(logits, ids)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size}
