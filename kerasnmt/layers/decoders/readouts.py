"""Readouts, which compute features from the previous word, the state and the context."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite
from kerasnmt.layers.on_rows import on_rows


class Readout(Composite, keras.layers.Layer):
    """Base class of readouts, which compute features for the generator.

    A readout reads the previous word, the state and the context, (y_{t-1}, s_t, c_t). A subclass
    implements `build` and `call`, and sets `units`, the number of features.
    """

    units: int

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Create the weights. Only the last dimensions of the shapes are used."""
        raise NotImplementedError

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute features.

        Args:
            embedded: Previous word y_{t-1}, `[..., embedding_dim]`.
            state: Output s_t of the decoder cell, `[..., size]`.
            context: Context c_t, `[..., memory_units]`, or `[..., 0]` without attention.

        Returns:
            Features `[..., units]`.
        """
        raise NotImplementedError

    def project(self, annotations: Any) -> Any:
        """Compute what `pairs` needs of the annotations, once per source.

        By default, these are the annotations, `[batch, source_length, memory_units]`.
        """
        return annotations

    def pairs(self, embedded: Any, state: Any, projected: Any) -> Any:
        """Compute the features of every target position t with every annotation h_i as context.

        Args:
            embedded: Previous words y_{t-1}, `[batch, target_length, embedding_dim]`.
            state: Outputs s_t of the decoder cell, `[batch, target_length, size]`.
            projected: From `project`, `[batch, source_length, size]`.

        Returns:
            Features `[batch, target_length, source_length, units]`.
        """
        batch, length, _ = ops.shape(state)
        shape = batch, length, ops.shape(projected)[1]
        inputs = embedded[:, :, None], state[:, :, None], projected[:, None]
        return self(*(ops.broadcast_to(one, (*shape, one.shape[-1])) for one in inputs))


class _DenseReadout(Readout):
    """Base class of readouts with one dense layer, `projection`, over all three inputs."""

    projection: keras.layers.Dense

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Create the weights; see `Readout`."""
        features = embedded_shape[-1] + state_shape[-1] + context_shape[-1]
        self.projection.build((None, features))

    def _project(self, embedded: Any, state: Any, context: Any) -> Any:
        return on_rows(self.projection, ops.concatenate([embedded, state, context], axis=-1))


@keras.saving.register_keras_serializable("kerasnmt")
class MaxoutReadout(_DenseReadout):
    """Maxout layer over the previous word, the state and the context.

        t~ = U s_t + V y_{t-1} + C c_t + b,    t_j = max(t~_j, t~_{j + units})

    The paper takes the maximum of two neighbors, `t~_{2j-1}` and `t~_{2j}`. Here, the maximum is
    taken over the two halves of `t~`. This is the same layer with its rows in another order, and
    needs no strided access.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", equation 4 and appendix A.2.2.

    Args:
        units: Number of features.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.projection = keras.layers.Dense(2 * units, dtype=self.dtype_policy, name="projection")

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute features; see `Readout`."""
        return ops.maximum(*ops.split(self._project(embedded, state, context), 2, axis=-1))


@keras.saving.register_keras_serializable("kerasnmt")
class TanhReadout(_DenseReadout):
    """Dense layer with tanh over the previous word, the state and the context.

        t = tanh(U s_t + V y_{t-1} + C c_t + b)

    Source: Sennrich et al. (2017), "Nematus: a toolkit for neural machine translation", section 3,
    without b.

    Args:
        units: Number of features.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.projection = keras.layers.Dense(
            units, activation="tanh", dtype=self.dtype_policy, name="projection"
        )

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute features; see `Readout`."""
        return self._project(embedded, state, context)


@keras.saving.register_keras_serializable("kerasnmt")
class AttentionalReadout(Readout):
    """Attentional vector of Luong's decoder.

        t = tanh(W [c_t; s_t])

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", equation 5.

    Args:
        units: Number of features.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.projection = keras.layers.Dense(
            units, activation="tanh", use_bias=False, dtype=self.dtype_policy, name="projection"
        )

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Create the weights; see `Readout`."""
        self.projection.build((None, context_shape[-1] + state_shape[-1]))

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute features; see `Readout`."""
        return on_rows(self.projection, ops.concatenate([context, state], axis=-1))

    def project(self, annotations: Any) -> Any:
        """Compute W_c h_i, where W = [W_c, W_s]; see `Readout`."""
        return self._product(annotations, slice(None, annotations.shape[-1]))

    def pairs(self, embedded: Any, state: Any, projected: Any) -> Any:
        """Compute the features tanh(W_c h_i + W_s s_t) of every pair; see `Readout`."""
        product = self._product(state, slice(-state.shape[-1], None))
        return ops.tanh(product[:, :, None] + projected[:, None])

    def _product(self, inputs: Any, rows: slice) -> Any:
        """Return the product with some rows of the kernel."""
        kernel = ops.cast(self.projection.kernel[rows], inputs.dtype)
        return on_rows(lambda matrix: ops.matmul(matrix, kernel), inputs)


@keras.saving.register_keras_serializable("kerasnmt")
class DeepOutputReadout(Readout):
    """Sum of the embedded word, the projected state and the projected context.

        t = E y_{t-1} + L_s s_t + L_c c_t

    With a `VocabularyProjection` L_o, p(y_t) is proportional to exp(L_o t). `build` sets `units` to
    the size of the embedded words.

    Source: Xu et al. (2015), "Show, attend and tell", equation 7.
    """

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Create the weights; see `Readout`."""
        self.units = embedded_shape[-1]
        options = {"use_bias": False, "trainable": self.trainable, "dtype": self.dtype_policy}
        self.state_projection = keras.layers.Dense(self.units, name="state_projection", **options)
        self.context_projection = keras.layers.Dense(
            self.units, name="context_projection", **options
        )
        self.state_projection.build(state_shape)
        self.context_projection.build(context_shape)

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute features; see `Readout`."""
        projected = on_rows(self.state_projection, state)
        return embedded + projected + on_rows(self.context_projection, context)


@keras.saving.register_keras_serializable("kerasnmt")
class ConcatReadout(Readout):
    """Concatenation [c_t; s_t] of the context and the state, without weights."""

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Set the number of features; see `Readout`."""
        self.units = context_shape[-1] + state_shape[-1]

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute features; see `Readout`."""
        return ops.concatenate([context, state], axis=-1)


@keras.saving.register_keras_serializable("kerasnmt")
class StateReadout(Readout):
    """Output of the decoder cell: s_t, or the attentional vector with input feeding."""

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Set the number of features; see `Readout`."""
        self.units = state_shape[-1]

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Return the state; see `Readout`."""
        return state
