"""The attentional state of Luong et al. (2015) as a readout."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class AttentionalReadout(keras.layers.Layer):
    """tanh(W [c_t; s_t]).

    Source: Luong, Pham and Manning (2015), equation 5.

    Args:
        units: number of features.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.projection = keras.layers.Dense(
            units, activation="tanh", use_bias=False, dtype=self.dtype_policy, name="projection"
        )

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        self.projection.build((None, context_shape[-1] + state_shape[-1]))

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Turn what a step knows into features `[..., units]`; see `MaxoutReadout`."""
        return on_rows(self.projection, ops.concatenate([context, state], axis=-1))

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
