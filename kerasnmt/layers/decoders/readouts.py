"""Readouts: features from the last word, the decoder's state and the context."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.products import on_rows


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


@keras.saving.register_keras_serializable("kerasnmt")
class AttentionalReadout(keras.layers.Layer):
    """tanh(W [c_t; s_t]).

    Source: Luong, Pham and Manning (2015), equation 5.

    Args:
        units: number of features.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.projection = keras.layers.Dense(
            units, activation="tanh", use_bias=False, dtype=self.dtype_policy, name="projection"
        )

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        self.projection.build((None, context_shape[-1] + state_shape[-1]))

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Turn what a step knows into features `[..., units]`; see `MaxoutReadout`."""
        return on_rows(self.projection, ops.concatenate([context, state], axis=-1))

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable("kerasnmt")
class DeepOutputReadout(keras.layers.Layer):
    """E y_{t-1} + L_s s_t + L_c c_t, the embedded word before with the state and the context added.

    With a `VocabularyProjection` L_o behind it, p(y_t) ∝ exp(L_o (E y_{t-1} + L_s s_t + L_c c_t)).
    Its `units` are those of the embedded words, known when it is built.

    Source: Xu et al. (2015), "Show, attend and tell", equation 7.
    """

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Make the weights for inputs with these last dimensions."""
        self.units = embedded_shape[-1]
        options = {"use_bias": False, "dtype": self.dtype_policy}
        self.state_projection = keras.layers.Dense(self.units, name="state_projection", **options)
        self.context_projection = keras.layers.Dense(
            self.units, name="context_projection", **options
        )
        self.state_projection.build(state_shape)
        self.context_projection.build(context_shape)

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Turn what a step knows into features `[..., units]`; see `MaxoutReadout`."""
        projected = on_rows(self.state_projection, state)
        return embedded + projected + on_rows(self.context_projection, context)


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
