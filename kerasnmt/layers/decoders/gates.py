"""Gates, which compute the probabilities of generating and of copying."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite
from kerasnmt.layers.on_rows import on_rows


class Gate(Composite, keras.layers.Layer):
    """Base class of gates, which choose between generating and copying.

    A gate reads the previous word, the state and the context, (y_{t-1}, s_t, c_t). A subclass
    implements `call` and has a `projection` of all three, or implements `build`.
    """

    projection: keras.layers.Layer

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Create the weights. Only the last dimensions of the shapes are used."""
        self.projection.build((None, embedded_shape[-1] + state_shape[-1] + context_shape[-1]))

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute the log-probabilities of each choice.

        Args:
            embedded: Previous word y_{t-1}, `[..., embedding_dim]`.
            state: Output s_t of the decoder cell, `[..., size]`.
            context: Context c_t, `[..., memory_units]`, or `[..., 0]` without attention.

        Returns:
            log p_gen and log p_copy, float32 `[..., 2]`.
        """
        raise NotImplementedError


@keras.saving.register_keras_serializable("kerasnmt")
class SoftmaxGate(Gate):
    """Gate that reads only the state.

        (p_gen, p_copy) = softmax(W s_t)

    Source: Stehnii (2018), "Neural attention", section "Pointer networks":
    softmax(W_{g.or.c}^T h_y).
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.projection = keras.layers.Dense(
            2, use_bias=False, dtype=self.dtype_policy, name="projection"
        )

    def build(self, embedded_shape: tuple, state_shape: tuple, context_shape: tuple) -> None:
        """Create the weights; see `Gate`."""
        self.projection.build(state_shape)

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute log p_gen and log p_copy from the state; see `Gate`."""
        return ops.log_softmax(ops.cast(on_rows(self.projection, state), "float32"), axis=-1)


@keras.saving.register_keras_serializable("kerasnmt")
class SigmoidGate(Gate):
    """Gate that reads the context, the state and the previous word.

        p_gen = sigmoid(w_c c_t + w_s s_t + w_y y_{t-1} + b),    p_copy = 1 - p_gen

    Source: See, Liu and Manning (2017), "Get to the point", equation 8.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.projection = keras.layers.Dense(1, dtype=self.dtype_policy, name="projection")

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute log p_gen and log p_copy; see `Gate`."""
        logit = on_rows(self.projection, ops.concatenate([context, state, embedded], axis=-1))
        logit = ops.cast(logit, "float32")
        return ops.log_sigmoid(ops.concatenate([logit, -logit], axis=-1))


@keras.saving.register_keras_serializable("kerasnmt")
class ContextGate(Gate):
    """Gate that chooses between generating, copying from the source and copying from the context.

        (p_gen, p_source, p_context) = softmax(W [s_t; c_t; k_t; y_{t-1}] + b)

    Source: Stehnii (2018), "Neural attention", sections "Attention over context" and "Pointer
    networks", where the softmax has two choices; McCann, Keskar, Xiong and Socher (2018), "The
    natural language decathlon", section 3, where two sigmoids choose.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.projection = keras.layers.Dense(3, dtype=self.dtype_policy, name="projection")

    def call(self, embedded: Any, state: Any, context: Any) -> Any:
        """Compute the log-probabilities of each choice; see `Gate`.

        Args:
            embedded: Previous word y_{t-1}, `[..., embedding_dim]`.
            state: Output s_t of the decoder cell, `[..., size]`.
            context: Contexts [c_t; k_t], `[..., 2 * memory_units]`.

        Returns:
            log p_gen, log p_source and log p_context, float32 `[..., 3]`.
        """
        logits = on_rows(self.projection, ops.concatenate([state, context, embedded], axis=-1))
        return ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
