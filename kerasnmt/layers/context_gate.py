"""The choice between generating a word, copying one of the source, and one of the context."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class ContextGate(keras.layers.Layer):
    """(p_gen, p_source, p_context) = softmax(W [s_t; c_t; k_t; y_{t-1}] + b).

    Source: Stehnii (2018), "Neural attention", sections "Attention over context" and "Pointer
    networks", whose softmax over two actions this is over three; McCann, Keskar, Xiong and Socher
    (2018), "The natural language decathlon", section 3, which chooses with two sigmoids of what the
    decoder hears.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.projection = keras.layers.Dense(3, dtype=self.dtype_policy, name="projection")

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        features = embedded_shape[-1] + state_shape[-1] + context_shape[-1]
        self.projection.build((None, features))

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Choose.

        Args:
            embedded: y_{t-1}, `[..., embedding_dim]`.
            state: s_t, `[..., units]`.
            context: [c_t; k_t], `[..., 2 memory_units]`.

        Returns:
            log p_gen, log p_source and log p_context, float32 `[..., 3]`.
        """
        logits = on_rows(self.projection, ops.concatenate([state, context, embedded], axis=-1))
        return ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
