"""Layer normalization."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class LayerNormalization(keras.layers.LayerNormalization):
    """Layer normalization over the last axis: gamma * (x - mean) / sqrt(variance + epsilon) + beta.

    Weights and results are those of `keras.layers.LayerNormalization`. The gradient is written by
    hand: in TensorFlow on a CPU, a training step takes half the time for it.

    Source: Ba et al. (2016), "Layer normalization", equation 4.

    Args:
        epsilon: Small number that is added to the variance.
    """

    def __init__(self, epsilon: float = 1e-6, **kwargs) -> None:
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs: Any) -> Any:
        """Normalize `[..., units]`, in float32 or more; the result has the layer's dtype."""
        dtype = keras.backend.result_type(inputs.dtype, "float32")
        given = (ops.cast(tensor, dtype) for tensor in (inputs, self.gamma, self.beta))
        return ops.cast(_normalized(self.epsilon, *given), self.compute_dtype)


def _normalized(epsilon: float, *given: Any) -> Any:
    """Normalize the first tensor, `[..., units]`; the others are gamma and beta."""

    @ops.custom_gradient
    def normalized(inputs: Any, gamma: Any, beta: Any) -> tuple:
        centered = inputs - ops.mean(inputs, axis=-1, keepdims=True)
        inverse = ops.rsqrt(ops.mean(ops.square(centered), axis=-1, keepdims=True) + epsilon)
        standard = centered * inverse

        def gradient(*args: Any, upstream: Any = None) -> tuple:
            if upstream is None:
                (upstream,) = args
            positions = tuple(range(len(inputs.shape) - 1))
            of_gamma = ops.sum(upstream * standard, axis=positions)
            of_beta = ops.sum(upstream, axis=positions)
            upstream = upstream * gamma
            along = ops.mean(upstream * standard, axis=-1, keepdims=True)
            mean = ops.mean(upstream, axis=-1, keepdims=True)
            return (upstream - standard * along - mean) * inverse, of_gamma, of_beta

        return standard * gamma + beta, gradient

    return normalized(*given)
