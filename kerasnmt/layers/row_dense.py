"""A dense layer whose product is one of two matrices."""

from typing import Any

import keras

from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class RowDense(keras.layers.Dense):
    """`keras.layers.Dense`, of which the leading axes are one axis of rows while it multiplies.

    The numbers are the same. Keras leaves a tensor of three axes to TensorFlow's `tensordot`, some
    ten small ops around each product, which in a search, where a product has a few rows, take
    longer than what they prepare. For gradients see `on_rows`.
    """

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Turn `[..., features]` into `[..., units]`."""
        if len(inputs.shape) == 2:
            return super().call(inputs, training)
        return on_rows(super().call, inputs)
