"""Residual connections around the sublayers of a Transformer."""

from typing import Any

import keras

from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.normalization import LayerNormalization


class Residual(Composite, keras.layers.Layer):
    """Base class of residual connections, which place the layer normalization.

    ```python
    outputs = sublayer(residual.before(inputs))
    outputs = residual.after(inputs, outputs)
    ```

    Args:
        dropout: Dropout rate of the sublayer's outputs, in [0, 1).
    """

    def __init__(self, dropout: float = 0.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.dropout = dropout
        self.normalization = LayerNormalization(dtype=self.dtype_policy, name="normalization")
        self.outputs_dropout = ByteDropout(dropout, dtype=self.dtype_policy, name="outputs_dropout")

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., units)`."""
        build_once(self.normalization, inputs_shape)

    def before(self, inputs: Any) -> Any:
        """Return the inputs of the sublayer, `[..., units]`."""
        raise NotImplementedError

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return the result of the residual connection, `[..., units]`.

        Args:
            inputs: Inputs of `before`, `[..., units]`.
            outputs: Outputs of the sublayer, `[..., units]`.
            training: Whether dropout applies.
        """
        raise NotImplementedError


@keras.saving.register_keras_serializable("kerasnmt")
class PreNorm(Residual):
    """Residual connection with pre-normalization.

        y = x + dropout(f(LayerNorm(x)))

    The sum is not normalized, so a stack of such layers trains without a warm-up of the learning
    rate. It needs a layer normalization after the last layer.

    Source: Xiong et al. (2020), "On layer normalization in the Transformer architecture".

    Args:
        dropout: Dropout rate of the sublayer's outputs, in [0, 1).
    """

    def before(self, inputs: Any) -> Any:
        """Return LayerNorm(x)."""
        return self.normalization(inputs)

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return x + dropout(outputs)."""
        return inputs + self.outputs_dropout(outputs, training=training)


@keras.saving.register_keras_serializable("kerasnmt")
class PostNorm(Residual):
    """Residual connection with post-normalization.

        y = LayerNorm(x + dropout(f(x)))

    Deep stacks of such layers need a warm-up of the learning rate.

    Source: Vaswani et al. (2017), "Attention is all you need", sections 3.1 and 5.4.

    Args:
        dropout: Dropout rate of the sublayer's outputs, in [0, 1).
    """

    def before(self, inputs: Any) -> Any:
        """Return x."""
        return inputs

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return LayerNorm(x + dropout(outputs))."""
        return self.normalization(inputs + self.outputs_dropout(outputs, training=training))
