"""The decoder's state alone."""

from typing import Any

import keras


@keras.saving.register_keras_serializable("kerasnmt")
class StateReadout(keras.layers.Layer):
    """The cell's output as it is: s_t, or the attentional state where the cell makes it.

    Its `units` are known when it is built.
    """

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Learn the number of features from the inputs' last dimensions."""
        self.units = state_shape[-1]

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Return the state `[..., units]`; see `MaxoutReadout`."""
        return state
