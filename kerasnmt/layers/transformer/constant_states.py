"""Sublayers that stand for the self-attention of a decoder, with a state of constant size."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class SSRU(Composite, keras.layers.Layer):
    """Simpler simple recurrent unit (SSRU), in place of a decoder's self-attention.

        f_t = sigmoid(W_f x_t + b_f),    c_t = f_t * c_{t-1} + (1 - f_t) * W x_t
        o_t = max(0, c_t)

    A step of a search takes the same time and memory at each position, because it reads only
    c_{t-1}, with c_0 = 0. The products are computed for all words at once, so the loop over the
    words has only elementwise operations.

    Source: Kim et al. (2019), "From research to production and back: ludicrously fast neural
    machine translation", section 3.1.

    Args:
        units: Size of the inputs, the state and the outputs.
    """

    # Each word sees only the words up to its own position.
    causal = True
    # Whether `step` writes to a cache of the earlier words; see `MultiHeadSelfAttention`.
    caches = False

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = units
        self.gate_projection = keras.layers.Dense(
            units, activation="sigmoid", dtype=self.dtype_policy, name="gate_projection"
        )
        self.words_projection = keras.layers.Dense(
            units, use_bias=False, dtype=self.dtype_policy, name="words_projection"
        )
        self.loop = keras.layers.RNN(
            _Forgetting(units, dtype=self.dtype_policy, name="cell"),
            return_sequences=True,
            dtype=self.dtype_policy,
            name="loop",
        )

    def build(self, words_shape: tuple) -> None:
        """Create the weights for words `(batch, length, units)`.

        Raises:
            ValueError: If a word has another size.
        """
        if words_shape[-1] != self.units:
            raise ValueError(
                f"Expected words of {self.units} features, as many as units. Received: words of "
                f"shape {tuple(words_shape)}."
            )
        build_once(self.gate_projection, words_shape)
        build_once(self.words_projection, words_shape)
        self.loop.built = True

    def call(self, words: Any, mask: Any = None, training: bool = False) -> tuple[Any, None]:
        """Run over a whole target.

        Args:
            words: `[batch, length, units]`.
            mask: Boolean `[batch, length]`, True = real token, or None.
            training: Not used.

        Returns:
            The outputs, `[batch, length, units]`, and None in place of attention weights.
        """
        return ops.relu(self.loop(self._project(words), mask=mask)), None

    def remembered(self, words: Any) -> Any:
        """Return the first state c_0, zeros `[..., units]`, for words `[..., units]`."""
        return ops.zeros_like(words)

    def step(self, words: Any, state: Any, *_: Any) -> tuple[Any, Any]:
        """Run over one position of each hypothesis of each row.

        Args:
            words: `[batch, hypotheses, units]`.
            state: From `remembered` or the previous step, `[batch, hypotheses, units]`.
            *_: Arguments of `MultiHeadSelfAttention.step`, which are not used.

        Returns:
            The output and the new state, `[batch, hypotheses, units]` each.
        """
        state = _next(self._project(words), state)
        return ops.relu(state), state

    def _project(self, words: Any) -> Any:
        parts = (on_rows(layer, words) for layer in (self.gate_projection, self.words_projection))
        return ops.concatenate([*parts], axis=-1)


class _Forgetting(keras.layers.Layer):
    """Cell that adds words to its state, which a gate makes forget. It has no weights."""

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.state_size = self.output_size = units

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step from the gate and the word, `[batch, 2 * units]`."""
        state = _next(inputs, states[0])
        return state, [state]


def _next(inputs: Any, state: Any) -> Any:
    gate, words = ops.split(inputs, 2, axis=-1)
    return words + gate * (state - words)


@keras.saving.register_keras_serializable("kerasnmt")
class AverageAttention(Composite, keras.layers.Layer):
    """Average attention, in place of a decoder's self-attention.

        g_t = FFN(1/t sum_{k <= t} x_k),    [i_t; f_t] = sigmoid(W [x_t; g_t] + b)
        o_t = i_t * x_t + f_t * g_t

    A step of a search takes the same time and memory at each position, because it reads only the
    sum of the earlier words and their number.

    Source: Zhang, Xiong and Su (2018), "Accelerating neural Transformer via an average attention
    network", equations 3 to 5.

    Args:
        feed_forward: `FeedForward` with as many units as a word has.
    """

    causal = True
    caches = False

    def __init__(self, feed_forward: keras.layers.Layer, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.feed_forward = feed_forward
        self.units = feed_forward.units
        self.gate_projection = keras.layers.Dense(
            2 * self.units, activation="sigmoid", dtype=self.dtype_policy, name="gate_projection"
        )

    def build(self, words_shape: tuple) -> None:
        """Create the weights for words `(batch, length, units)`."""
        build_once(self.feed_forward, words_shape)
        build_once(self.gate_projection, (*words_shape[:-1], 2 * self.units))

    def call(self, words: Any, mask: Any = None, training: bool = False) -> tuple[Any, None]:
        """Run over a whole target; see `SSRU`."""
        added = ops.cast(words, "float32")
        if mask is None:
            counts = ops.arange(1, ops.shape(words)[1] + 1, dtype="float32")[:, None]
        else:
            real = ops.cast(mask, "float32")[..., None]
            added, counts = real * added, ops.maximum(ops.cumsum(real, axis=1), 1.0)
        return self._gated(words, ops.cumsum(added, axis=1) / counts), None

    def remembered(self, words: Any) -> Any:
        """Return the first state for words `[..., units]`: sums and numbers, which are 0."""
        zeros = ops.cast(ops.zeros_like(words), "float32")
        return {"sums": zeros, "counts": zeros[..., :1]}

    def step(self, words: Any, state: Any, *_: Any) -> tuple[Any, Any]:
        """Run over one position of each hypothesis of each row; see `SSRU`."""
        state = {
            "sums": state["sums"] + ops.cast(words, "float32"),
            "counts": state["counts"] + 1,
        }
        return self._gated(words, state["sums"] / state["counts"]), state

    def _gated(self, words: Any, means: Any) -> Any:
        averages = self.feed_forward(ops.cast(means, words.dtype))
        gates = on_rows(self.gate_projection, ops.concatenate([words, averages], axis=-1))
        entry, forget = ops.split(gates, 2, axis=-1)
        return entry * words + forget * averages
