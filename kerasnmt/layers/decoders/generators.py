"""Generators, which turn features into a distribution over the vocabulary."""

import functools
from typing import Any, NamedTuple

import keras
from keras import ops

from kerasnmt.layers.attention.normalizers import NORMALIZERS
from kerasnmt.layers.composite import Composite
from kerasnmt.layers.decoders.entmax_loss import entmax_loss, log_or_impossible
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability
from kerasnmt.layers.on_rows import on_rows
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.speed.log_probability import projected_log_probability, token_log_probability

# Logit of padding in a list of ids, whose probability is 0 with every normalizer.
_NO_LOGIT = -1e9


class OutputRows(NamedTuple):
    """Weights of a vocabulary projection for some ids.

    Attributes:
        kernel: Their columns of the matrix W, `[units, size]`.
        bias: Their biases, `[size]`.
    """

    kernel: Any
    bias: Any

    def logits(self, features: Any) -> Any:
        """Return the logits of these ids, `[..., size]`, for features `[..., units]`."""
        # TensorFlow fuses the product of two matrices and a bias.
        return on_rows(lambda rows: ops.matmul(rows, self.kernel) + self.bias, features)


@keras.saving.register_keras_serializable("kerasnmt")
class VocabularyProjection(Composite, keras.layers.Layer):
    """Generator that projects features to the target vocabulary.

        p(y_t) = softmax(W t + b),    where t are the features

    From the outputs of `call`, a generator computes the log-probability of every next id, for
    search, and the log-probability of given ids, for the loss.

    Another normalizer takes the place of the softmax: with entmax, most ids have a probability of
    exactly 0. Then the log-probability of these ids is -1e9, and the loss is the entmax loss; see
    `kerasnmt.layers.entmax_loss`. `EncoderDecoder.compile` sets the normalizer by its `loss`.

    Args:
        vocabulary_size: Number of ids.
        normalizer: "softmax", "sparsemax" or "entmax15".

    Raises:
        ValueError: If there is no such normalizer.
    """

    def __init__(self, vocabulary_size: int, normalizer: str = "softmax", **kwargs) -> None:
        super().__init__(**kwargs)
        if not isinstance(normalizer, str) or normalizer not in NORMALIZERS:
            raise ValueError(unknown_name_message(str(normalizer), NORMALIZERS, "normalizer"))
        self.supports_masking = True
        self.vocabulary_size = vocabulary_size
        self.normalizer = normalizer

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
            return OutputRows(kernel, self.bias).logits(features)

        def of_tokens(rows: Any, ids: Any) -> tuple[Any, ...]:
            if self.normalizer != "softmax":
                return entmax_loss(
                    _entmax(self.normalizer), ops.matmul(rows, kernel) + self.bias, ids
                )
            # A custom gradient of TensorFlow takes tensors, not variables.
            weights = ops.copy(kernel), ops.copy(self.bias)
            return projected_log_probability(rows, *weights, ids)

        log, mean, *gain = targets.apply(of_tokens, features)
        return TokenProbability(log, mean, {}, *gain)

    def output_rows(self, ids: Any, embeddings: Any = None) -> OutputRows:
        """Return the weights of some ids, for a distribution over these ids alone.

        Args:
            ids: Int32 `[size]`, in ascending order, padded on the right with 0.
            embeddings: See `call`.

        Returns:
            The weights. `next_log_probability` of their logits gives padding a probability of 0.
        """
        real = ops.logical_or(ids > 0, ops.arange(ops.shape(ids)[0], dtype="int32") == 0)
        bias = ops.where(real, ops.take(ops.convert_to_tensor(self.bias), ids), _NO_LOGIT)
        rows = OutputRows(self._kernel_of(ids, embeddings), bias)
        return OutputRows(*(ops.cast(one, self.compute_dtype) for one in rows))

    def _kernel(self, embeddings: Any, dtype: str) -> Any:
        """Return the matrix W, `[units, vocabulary]`."""
        return self.kernel

    def _kernel_of(self, ids: Any, embeddings: Any) -> Any:
        """Return the columns of W for some ids, `[units, size]`."""
        return ops.take(ops.convert_to_tensor(self.kernel), ids, axis=1)

    def next_log_probability(self, logits: Any) -> Any:
        """Return log p of every id, float32 `[..., vocabulary]`."""
        logits = ops.cast(logits, "float32")
        if self.normalizer != "softmax":
            # `call` of the normalizer would take the mask of Keras, which is that of time steps.
            return log_or_impossible(_entmax(self.normalizer).normalize(logits, None))
        return ops.log_softmax(logits, axis=-1)

    def log_probability(self, logits: Any, ids: Any) -> TokenProbability:
        """Return log p of the given ids.

        Args:
            logits: `[..., vocabulary]`, from `call`.
            ids: Integers `[...]`.
        """
        if self.normalizer != "softmax":
            log, mean, gain = entmax_loss(_entmax(self.normalizer), logits, ids)
            return TokenProbability(log, mean, {}, gain)
        return TokenProbability(*token_log_probability(logits, ids), measured={})


@keras.saving.register_keras_serializable("kerasnmt")
class TiedVocabularyProjection(VocabularyProjection):
    """Generator that uses the target embeddings E as its weights.

        p(y_t) = softmax(E t + b),    where t are the features

    Source: Press and Wolf (2017), "Using the output embedding to improve language models".

    Args:
        vocabulary_size: Number of ids.
        normalizer: See `VocabularyProjection`.
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

    def _kernel_of(self, ids: Any, embeddings: Any) -> Any:
        return ops.transpose(ops.take(ops.convert_to_tensor(embeddings), ids, axis=0))


@functools.cache
def _entmax(name: str) -> Any:
    """Return a normalizer that is not the softmax. It has no weights, so generators share it."""
    return NORMALIZERS[name]()
