"""The deep output of Xu et al. (2015)."""

from typing import Any

import keras

from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class DeepOutputReadout(keras.layers.Layer):
    """E y_{t-1} + L_s s_t + L_c c_t, the embedded word before with the state and the context added.

    With a `VocabularyProjection` L_o behind it, p(y_t) ∝ exp(L_o (E y_{t-1} + L_s s_t + L_c c_t)).
    Its `units` are those of the embedded words, known when it is built.

    Source: Xu et al. (2015), "Show, attend and tell", equation 7.
    """

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        self.units = embedded_shape[-1]
        options = {"use_bias": False, "dtype": self.dtype_policy}
        self.state_projection = keras.layers.Dense(self.units, name="state_projection", **options)
        self.context_projection = keras.layers.Dense(
            self.units, name="context_projection", **options
        )
        self.state_projection.build(state_shape)
        self.context_projection.build(context_shape)

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Turn what a step knows into features `[..., units]`; see `MaxoutReadout`."""
        projected = on_rows(self.state_projection, state)
        return embedded + projected + on_rows(self.context_projection, context)
