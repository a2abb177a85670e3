"""The choice between generating and copying, from all that is heard."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class SigmoidGate(keras.layers.Layer):
    """p_gen = sigmoid(w_c c_t + w_s s_t + w_y y_{t-1} + b), p_copy = 1 - p_gen.

    Source: See, Liu and Manning (2017), "Get to the point", equation 8.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.projection = keras.layers.Dense(1, dtype=self.dtype_policy, name="projection")

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        features = embedded_shape[-1] + state_shape[-1] + context_shape[-1]
        self.projection.build((None, features))

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Choose; see `SoftmaxGate`."""
        logit = on_rows(self.projection, ops.concatenate([context, state, embedded], axis=-1))
        logit = ops.cast(logit, "float32")
        return ops.log_sigmoid(ops.concatenate([logit, -logit], axis=-1))
