"""Normalization before a sublayer."""

from typing import Any

import keras

from kerasnmt.layers.residual import Residual


@keras.saving.register_keras_serializable("kerasnmt")
class PreNorm(Residual):
    """x + dropout(f(LayerNorm(x))): nothing stands between the layers' outputs and the first words.

    Such a stack trains without a warm-up as well; its outputs are sums, which want a normalization
    after the last layer.

    Source: Xiong et al. (2020), "On layer normalization in the Transformer architecture".

    Args:
        dropout: share of the sublayer's features that is dropped in training, in [0, 1).
    """

    def before(self, inputs: Any) -> Any:
        """Return LayerNorm(x)."""
        return self.normalization(inputs)

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return x + dropout(outputs)."""
        return inputs + self.outputs_dropout(outputs, training=training)
