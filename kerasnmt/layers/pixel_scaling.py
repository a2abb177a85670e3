"""Pixels as small numbers."""

from typing import Any

import keras


@keras.saving.register_keras_serializable("kerasnmt")
class PixelScaling(keras.layers.Layer):
    """x / 127.5 - 1: from 0 to 255 becomes from -1 to 1, as many convolutional networks want it.

    `keras.layers.Rescaling` does the same where TensorFlow is installed.
    """

    def call(self, images: Any) -> Any:
        """Scale images of any shape."""
        return images / 127.5 - 1.0
