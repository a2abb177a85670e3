"""Residual connections around the sublayers of a Transformer."""

from typing import Any

import keras

from kerasnmt.layers.composite import build_once


class Residual(keras.layers.Layer):
    """A way around a sublayer; a subclass says where on it the features are normalized.

        outputs = sublayer(residual.before(inputs))
        outputs = residual.after(inputs, outputs)

    Args:
        dropout: Share of the sublayer's features that is dropped in training, in [0, 1).
    """

    def __init__(self, dropout: float = 0.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.dropout = dropout
        self.normalization = keras.layers.LayerNormalization(
            epsilon=1e-6, dtype=self.dtype_policy, name="normalization"
        )
        self.outputs_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy, name="outputs_dropout"
        )

    def build(self, inputs_shape: tuple) -> None:
        """Make the weights for inputs `(..., units)`."""
        build_once(self.normalization, inputs_shape)

    def before(self, inputs: Any) -> Any:
        """Return what the sublayer reads, `[..., units]`."""
        raise NotImplementedError

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return what comes after the sublayer.

        Args:
            inputs: What `before` was given, `[..., units]`.
            outputs: What the sublayer made of it, `[..., units]`.
            training: Whether dropout applies.
        """
        raise NotImplementedError

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "dropout": self.dropout}


@keras.saving.register_keras_serializable("kerasnmt")
class PreNorm(Residual):
    """x + dropout(f(LayerNorm(x))): nothing stands between the layers' outputs and the first words.

    Such a stack trains without a warm-up as well; its outputs are sums, which want a normalization
    after the last layer.

    Source: Xiong et al. (2020), "On layer normalization in the Transformer architecture".

    Args:
        dropout: Share of the sublayer's features that is dropped in training, in [0, 1).
    """

    def before(self, inputs: Any) -> Any:
        """Return LayerNorm(x)."""
        return self.normalization(inputs)

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return x + dropout(outputs)."""
        return inputs + self.outputs_dropout(outputs, training=training)


@keras.saving.register_keras_serializable("kerasnmt")
class PostNorm(Residual):
    """LayerNorm(x + dropout(f(x))), the paper's; deep stacks of it want a warm-up of the rate.

    Source: Vaswani et al. (2017), sections 3.1 and 5.4.

    Args:
        dropout: Share of the sublayer's features that is dropped in training, in [0, 1).
    """

    def before(self, inputs: Any) -> Any:
        """Return x."""
        return inputs

    def after(self, inputs: Any, outputs: Any, training: bool = False) -> Any:
        """Return LayerNorm(x + dropout(outputs))."""
        return self.normalization(inputs + self.outputs_dropout(outputs, training=training))
