"""Layer normalization."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite


@keras.saving.register_keras_serializable("kerasnmt")
class LayerNormalization(Composite, keras.layers.Layer):
    """Layer normalization over the last axis.

        y = gamma * (x - mean) / sqrt(variance + epsilon) + beta

    With the same epsilon, `keras.layers.LayerNormalization` has equal weights and results. In
    training, a custom gradient takes fewer ops.

    Source: Ba et al. (2016), "Layer normalization", equation 4.

    Args:
        epsilon: Small number, which is added to the variance.
    """

    def __init__(self, epsilon: float = 1e-6, **kwargs) -> None:
        super().__init__(autocast=False, **kwargs)
        self.supports_masking = True
        self.epsilon = epsilon

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., units)`."""
        size = inputs_shape[-1:]
        self.gamma = self.add_weight(shape=size, initializer="ones", autocast=False, name="gamma")
        self.beta = self.add_weight(shape=size, initializer="zeros", autocast=False, name="beta")

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Normalize `[..., units]` in float32 or float64. The result has the layer's dtype."""
        dtype = keras.backend.result_type(inputs.dtype, "float32")
        given = (ops.cast(tensor, dtype) for tensor in (inputs, self.gamma, self.beta))
        return ops.cast(_normalized(self.epsilon, training, *given), self.compute_dtype)


def _normalized(epsilon: float, training: bool, *given: Any) -> Any:
    """Normalize the first tensor, `[..., units]`. The others are gamma and beta."""

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

    # An export would store a function for each custom gradient.
    return ops.custom_gradient(normalized)(*given) if training else normalized(*given)[0]
