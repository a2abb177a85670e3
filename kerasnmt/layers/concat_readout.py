"""Context and state, side by side."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class ConcatReadout(keras.layers.Layer):
    """[c_t; s_t], straight to the vocabulary.

    Its `units` are known when it is built.
    """

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Learn the number of features from the inputs' last dimensions."""
        self.units = context_shape[-1] + state_shape[-1]

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Turn what a step knows into features `[..., units]`; see `MaxoutReadout`."""
        return ops.concatenate([context, state], axis=-1)
