"""Perplexity per token."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class Perplexity(keras.metrics.Metric):
    """Perplexity per token: exp of the mean negative log-probability of a token.

    The mean is over all tokens since the last reset, however they are batched, and without label
    smoothing.
    """

    def __init__(self, name: str = "perplexity", **kwargs) -> None:
        super().__init__(name=name, **kwargs)
        self.total = self.add_variable((), initializer="zeros", name="total")
        self.tokens = self.add_variable((), initializer="zeros", name="tokens")

    def update_state(self, log_probability: Any, sample_weight: Any) -> None:
        """Add a batch.

        Args:
            log_probability: Log-probabilities of the target tokens, `[batch, target_length]`.
            sample_weight: Weights of the same shape, 0 for padding.
        """
        self.total.assign_add(-ops.sum(log_probability * sample_weight))
        self.tokens.assign_add(ops.sum(sample_weight))

    def result(self) -> Any:
        """Return the perplexity, or 1 if there were no tokens."""
        return ops.exp(ops.divide_no_nan(self.total, self.tokens))
