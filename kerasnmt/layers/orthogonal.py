"""Initializer of orthogonal matrices for every dtype."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class Orthogonal(keras.initializers.Orthogonal):
    """Orthogonal matrices, computed in float32: TensorFlow cannot make them in bfloat16."""

    def __call__(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        """Draw a matrix; see `keras.initializers.Orthogonal`."""
        return ops.cast(super().__call__(shape, "float32"), dtype or keras.config.floatx())
