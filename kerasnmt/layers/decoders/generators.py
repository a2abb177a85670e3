"""Generators, which turn features into a distribution over the vocabulary."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability
from kerasnmt.layers.on_rows import on_rows
from kerasnmt.speed.log_probability import projected_log_probability, token_log_probability


@keras.saving.register_keras_serializable("kerasnmt")
class VocabularyProjection(Composite, keras.layers.Layer):
    """Generator that projects features to the target vocabulary.

        p(y_t) = softmax(W t + b),    where t are the features

    From the outputs of `call`, a generator computes the log-probability of every next id, for
    search, and the log-probability of given ids, for the loss.

    Args:
        vocabulary_size: Number of ids.
    """

    def __init__(self, vocabulary_size: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size

    def build(self, features_shape: tuple, embeddings_shape: tuple | None = None) -> None:
        """Create the weights for features `(..., units)`."""
        self.kernel = self.add_weight(
            shape=(features_shape[-1], self.vocabulary_size),
            initializer="glorot_uniform",
            name="kernel",
        )
        self.bias = self.add_weight(shape=(self.vocabulary_size,), initializer="zeros", name="bias")

    def call(self, features: Any, embeddings: Any = None, targets: Targets | None = None) -> Any:
        """Compute logits, or the probabilities of given targets.

        Args:
            features: `[..., units]`, or `[batch, target_length, units]` with `targets`.
            embeddings: Target embeddings `[vocabulary, embedding_dim]`, for a generator that uses
                them as its weights.
            targets: Tokens to predict, or None.

        Returns:
            Logits `[..., vocabulary]`; with `targets`, their `TokenProbability`.
        """
        kernel = self._kernel(embeddings, features.dtype)
        if targets is None:
            # TensorFlow fuses the product of two matrices and a bias.
            return on_rows(lambda rows: ops.matmul(rows, kernel) + self.bias, features)

        def of_tokens(rows: Any, ids: Any) -> tuple[Any, Any]:
            # A custom gradient of TensorFlow takes tensors, not variables.
            weights = ops.copy(kernel), ops.copy(self.bias)
            return projected_log_probability(rows, *weights, ids)

        log, mean = targets.apply(of_tokens, features)
        return TokenProbability(log, mean, measured={})

    def _kernel(self, embeddings: Any, dtype: str) -> Any:
        """Return the matrix W, `[units, vocabulary]`."""
        return self.kernel

    def next_log_probability(self, logits: Any) -> Any:
        """Return log p of every id, float32 `[..., vocabulary]`."""
        return ops.log_softmax(ops.cast(logits, "float32"), axis=-1)

    def log_probability(self, logits: Any, ids: Any) -> TokenProbability:
        """Return log p of the given ids.

        Args:
            logits: `[..., vocabulary]`, from `call`.
            ids: Integers `[...]`.
        """
        return TokenProbability(*token_log_probability(logits, ids), measured={})


@keras.saving.register_keras_serializable("kerasnmt")
class TiedVocabularyProjection(VocabularyProjection):
    """Generator that uses the target embeddings E as its weights.

        p(y_t) = softmax(E t + b),    where t are the features

    Source: Press and Wolf (2017), "Using the output embedding to improve language models".

    Args:
        vocabulary_size: Number of ids.
    """

    def build(self, features_shape: tuple, embeddings_shape: Any = None) -> None:
        """Create the bias. The embeddings provide the matrix.

        Raises:
            ValueError: If the features do not have the size of the embeddings.
        """
        if features_shape[-1] != embeddings_shape[-1]:
            raise ValueError(
                "Expected a readout with the size of the embeddings, because the generator uses "
                f"them as its weights. Received: readout units={features_shape[-1]}, "
                f"embedding_dim={embeddings_shape[-1]}. Set both to one number, or use "
                "VocabularyProjection."
            )
        self.bias = self.add_weight(shape=(self.vocabulary_size,), initializer="zeros", name="bias")

    def _kernel(self, embeddings: Any, dtype: str) -> Any:
        return ops.transpose(ops.cast(embeddings, dtype))
