"""Layer normalization."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite
from kerasnmt.speed.layer_normalization import layer_normalization


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
        tensors = (ops.cast(tensor, dtype) for tensor in (inputs, self.gamma, self.beta))
        # An export would store a function for each custom gradient.
        normal = layer_normalization(self.epsilon, training, *tensors)
        return ops.cast(normal, self.compute_dtype)
