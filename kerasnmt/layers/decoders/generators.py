"""Generators: distributions over the vocabulary, computed from features."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.products import on_rows


def token_log_probability(logits: Any, ids: Any) -> tuple[Any, Any]:
    """Return the log-probability of each id, and the mean over the vocabulary.

    A label-smoothed cross-entropy needs these two. The gradient,

        d logits = g_1 (onehot(id) - p) + g_2 (1/V - p),

    is written by hand. The tensors of the vocabulary's size are by far the largest of a training
    step; so they are read as few times as possible, and no one-hot tensor is made.

    Args:
        logits: `[..., vocabulary]`, of any float dtype. The computation is in float32.
        ids: Integers `[...]` in `[0, vocabulary)`.

    Returns:
        log p(id) and (1/V) sum_v log p(v), float32 `[...]` each.
    """
    shape = ops.shape(ids)
    ids = ops.reshape(ids, (-1, 1))
    rows = ops.arange(ops.shape(ids)[0], dtype=ids.dtype)
    places = ops.concatenate([rows[:, None], ids], axis=-1)

    @ops.custom_gradient
    def chosen_and_mean(logits: Any) -> tuple:
        probabilities = ops.softmax(logits, axis=-1)
        # The largest probability is at least 1/V, so its logarithm is exact enough to compute the
        # others without more exponentials. It is added last, because the difference of two large
        # logits is small.
        largest = ops.max(logits, axis=-1)
        largest_log_probability = ops.log(ops.max(probabilities, axis=-1))
        chosen = ops.squeeze(ops.take_along_axis(logits, ids, axis=-1), -1)
        mean = ops.mean(logits, axis=-1)

        def gradient(*args: Any, upstream: Any = None) -> Any:
            if upstream is None:
                (upstream,) = args
            chosen_upstream, mean_upstream = upstream[:, 0], upstream[:, 1:]
            total = chosen_upstream[:, None] + mean_upstream
            dense = mean_upstream / logits.shape[-1] - total * probabilities
            return ops.scatter_update(dense, places, chosen_upstream, reduction="add")

        differences = ops.stack([chosen - largest, mean - largest], axis=-1)
        return differences + largest_log_probability[:, None], gradient

    flat = ops.reshape(ops.cast(logits, "float32"), (-1, logits.shape[-1]))
    both = chosen_and_mean(flat)
    return ops.reshape(both[:, 0], shape), ops.reshape(both[:, 1], shape)


@keras.saving.register_keras_serializable("kerasnmt")
class VocabularyProjection(keras.layers.Layer):
    """p(y_t) = softmax(W t + b) over the target vocabulary.

    A generator computes two things from the outputs of `call`: the log-probability of every next
    id, for search, and the log-probability of given ids, for the loss.

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

    def call(self, features: Any, embeddings: Any = None) -> Any:
        """Compute logits.

        Args:
            features: `[..., units]`.
            embeddings: Target embeddings `[vocabulary, embedding_dim]`, for generators that share
                them. Not used here.

        Returns:
            Logits `[..., vocabulary]`.
        """
        return self._project(features, self.kernel)

    def _project(self, features: Any, kernel: Any) -> Any:
        # TensorFlow fuses the product of two matrices and a bias.
        return on_rows(lambda rows: ops.matmul(rows, kernel) + self.bias, features)

    def next_log_probability(self, logits: Any) -> Any:
        """Return log p of every id, float32 `[..., vocabulary]`."""
        return ops.log_softmax(ops.cast(logits, "float32"), axis=-1)

    def log_probability(self, logits: Any, ids: Any) -> tuple[Any, Any]:
        """Return log p of the given ids, and the mean of log p over the vocabulary.

        Args:
            logits: `[..., vocabulary]`, from `call`.
            ids: Integers `[...]`.

        Returns:
            Two float32 tensors `[...]`. The second is for label smoothing.
        """
        return token_log_probability(logits, ids)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size}


@keras.saving.register_keras_serializable("kerasnmt")
class TiedVocabularyProjection(VocabularyProjection):
    """p(y_t) = softmax(E t + b), where E are the target embeddings.

    Source: Press and Wolf (2017), "Using the output embedding to improve language models".

    Args:
        vocabulary_size: Number of ids.
    """

    def build(self, features_shape: tuple, embeddings_shape: tuple | None = None) -> None:
        """Create the bias. The matrix belongs to the embeddings.

        Raises:
            ValueError: If the features do not have the size of the embeddings.
        """
        if features_shape[-1] != embeddings_shape[-1]:
            raise ValueError(
                "Expected a readout of the embedding's size, because the generator uses the "
                f"embeddings. Received: readout units={features_shape[-1]}, "
                f"embedding_dim={embeddings_shape[-1]}. Make them equal, or use "
                "VocabularyProjection."
            )
        self.bias = self.add_weight(shape=(self.vocabulary_size,), initializer="zeros", name="bias")

    def call(self, features: Any, embeddings: Any) -> Any:
        """Compute logits; see `VocabularyProjection`."""
        embeddings = ops.cast(embeddings, features.dtype)
        return self._project(features, ops.transpose(embeddings))
