"""Feed-forward block of a Transformer."""

from typing import Any

import keras

from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class FeedForward(Composite, keras.layers.Layer):
    """Feed-forward block, applied to each position separately.

        FFN(x) = max(0, x W_1 + b_1) W_2 + b_2

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.3, equation 2.

    Args:
        hidden_units: Size of the hidden layer.
        units: Size of the inputs and outputs.
    """

    def __init__(self, hidden_units: int, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.hidden_units = hidden_units
        self.units = units
        self.hidden_layer = keras.layers.Dense(
            hidden_units, activation="relu", dtype=self.dtype_policy, name="hidden_layer"
        )
        self.output_layer = keras.layers.Dense(units, dtype=self.dtype_policy, name="output_layer")

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., units)`."""
        build_once(self.hidden_layer, inputs_shape)
        build_once(self.output_layer, (*inputs_shape[:-1], self.hidden_units))

    def call(self, inputs: Any) -> Any:
        """Apply the block to inputs `[..., units]`. The outputs have the same shape."""
        return on_rows(lambda rows: self.output_layer(self.hidden_layer(rows)), inputs)
