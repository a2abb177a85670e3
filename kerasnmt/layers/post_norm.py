"""Normalization after a sublayer."""

from typing import Any

import keras

from kerasnmt.layers.residual import Residual


@keras.saving.register_keras_serializable("kerasnmt")
class PostNorm(Residual):
    """LayerNorm(x + dropout(f(x))), the paper's; deep stacks of it want a warm-up of the rate.

    Source: Vaswani et al. (2017), sections 3.1 and 5.4.

    Args:
        dropout: share of the sublayer's features that is dropped in training, in [0, 1).
    """

    def before(self, inputs: Any) -> Any:
        """Return x."""
        return inputs

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return LayerNorm(x + dropout(outputs))."""
        return self.normalization(inputs + self.outputs_dropout(outputs, training=training))
