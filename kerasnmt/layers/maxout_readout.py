"""The readout of Bahdanau et al. (2015)."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class MaxoutReadout(keras.layers.Layer):
    """g(y_{t-1}, s_t, c_t): a maxout layer over the last word, the state and the context.

        t~ = U s_t + V y_{t-1} + C c_t + b,    t_j = max(t~_j, t~_{j + units})

    The paper pairs neighbours, t~_{2j-1} and t~_{2j}; pairing the halves is the same layer with
    its rows in another order, and takes no strided access.

    Source: Bahdanau, Cho and Bengio (2015), equation 4 and appendix A.2.2.

    Args:
        units: number of features.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.projection = keras.layers.Dense(2 * units, dtype=self.dtype_policy, name="projection")

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        features = embedded_shape[-1] + state_shape[-1] + context_shape[-1]
        self.projection.build((None, features))

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Turn what a step knows into features.

        Args:
            embedded: y_{t-1}, `[..., embedding_dim]`.
            state: s_t, `[..., units]`.
            context: c_t, `[..., memory_units]`.

        Returns:
            features `[..., units]`.
        """
        hidden = on_rows(self.projection, ops.concatenate([embedded, state, context], axis=-1))
        return ops.maximum(*ops.split(hidden, 2, axis=-1))

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
