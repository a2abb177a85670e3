"""The two-way choice between generating and copying, from the state."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class SoftmaxGate(keras.layers.Layer):
    """(p_gen, p_copy) = softmax(W s_t).

    Source: Stehnii (2018), "Neural attention", section "Pointer networks":
    softmax(W_{g.or.c}^T h_y).
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.projection = keras.layers.Dense(
            2, use_bias=False, dtype=self.dtype_policy, name="projection"
        )

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        self.projection.build(state_shape)

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Choose.

        Args:
            embedded: y_{t-1}, `[..., embedding_dim]`; not used here.
            state: s_t, `[..., units]`.
            context: c_t, `[..., memory_units]`; not used here.

        Returns:
            log p_gen and log p_copy, float32 `[..., 2]`.
        """
        return ops.log_softmax(ops.cast(on_rows(self.projection, state), "float32"), axis=-1)
