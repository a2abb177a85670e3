"""Distributions of the latent alignment of a decoder with hard attention."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.shapes import check_scores, real_positions
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.decoders.copying import IMPOSSIBLE
from kerasnmt.layers.on_rows import on_rows


class LatentAlignment(Composite, keras.layers.Layer):
    """Base class of the distributions of a latent alignment, p(a_t | a_{t-1}, y_<t).

    a_t is the position of the source word that produces the target word t. Positions are counted
    from the first real word, and an alignment starts at a_0 = 0, before the first target word.

    A subclass implements `build`, `project` and `call`.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        # On TensorFlow, `ops.scan` has no gradient under XLA.
        self.loop = keras.layers.RNN(
            _Recursion(dtype="float32", name="recursion"),
            return_sequences=True,
            dtype="float32",
            name="loop",
        )
        self.loop.built = True

    def build(self, state_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights.

        Args:
            state_shape: `(..., units)`, the shape of the decoder's states.
            memory_shape: `(batch, source_length, memory_units)`.
        """
        raise NotImplementedError

    def project(self, annotations: Any) -> Any:
        """Compute the keys of `call` from annotations, once per source."""
        raise NotImplementedError

    def call(self, states: Any, keys: Any, memory_mask: Any) -> Any:
        """Return log p(a_t = j | a_{t-1} = i, y_<t) of all transitions from i to j.

        Args:
            states: Decoder states s_t, `[batch, target_length, units]`.
            keys: From `project`.
            memory_mask: Boolean `[batch, source_length]`, True = real token.

        Returns:
            Float32 `[batch, target_length, source_length, source_length]`, the `transition` of
            `predict`. Impossible transitions have about -1e9.
        """
        raise NotImplementedError

    def start(self, memory_mask: Any) -> Any:
        """Return log p(a_0), float32 `[batch, source_length]`.

        Args:
            memory_mask: Boolean `[batch, source_length]`.
        """
        first = ops.equal(real_positions(memory_mask), 0)
        return _penalties(ops.logical_and(memory_mask, first))

    def predict(self, previous: Any, transition: Any) -> Any:
        """Return log p(a_t | y_<t), with one step of the forward recursion.

            p(a_t = j | y_<t) = sum_i p(a_{t-1} = i | y_<t) p(a_t = j | a_{t-1} = i, y_<t)

        Args:
            previous: log p(a_{t-1} = i | y_<t), float32 `[..., source_length]`.
            transition: From `call`, without the axis of the target if `previous` has none.

        Returns:
            Float32 `[..., source_length]`.
        """
        return _predict(previous, transition)

    def predict_all(self, start: Any, transition: Any, emission: Any) -> Any:
        """Return log p(a_t | y_<t) of all words of given targets.

        Args:
            start: From `start`.
            transition: From `call`.
            emission: log p(y_t | a_t = j, y_<t), float32
                `[batch, target_length, source_length]`.

        Returns:
            Float32 `[batch, target_length, source_length]`.
        """
        words = ops.concatenate([emission[:, :, None], transition], axis=2)
        return self.loop(words, initial_state=[start])


class _Recursion(keras.layers.Layer):
    """One step of the forward recursion, a cell of `keras.layers.RNN`."""

    state_size = (0,)  # `keras.layers.RNN` requires it; the initial state has the real size

    def call(self, word: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Return log p(a_t | y_<t), and as the new state log p(a_t | y_<=t).

        Args:
            word: Emission and transition of a word, `[batch, 1 + source_length, source_length]`.
            states: log p(a_{t-1} | y_<t), `[batch, source_length]`.
        """
        prediction = _predict(states[0], word[:, 1:])
        return prediction, [normalized(prediction + word[:, 0])]


class ScoredAlignment(LatentAlignment):
    """Base class of alignments that score each source position as attention does.

    Args:
        score: A `Score`, for example `GeneralScore(units)`.
    """

    def __init__(self, score: keras.layers.Layer, **kwargs) -> None:
        super().__init__(**kwargs)
        self.score = score

    def build(self, state_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights; see `LatentAlignment`."""
        build_once(self.score, state_shape, self.project(keras.KerasTensor(memory_shape)).shape)

    def project(self, annotations: Any) -> Any:
        """Compute the keys of the score; see `LatentAlignment`."""
        # The score may create weights here; the scope gives them paths of their own.
        with keras.name_scope(self.name, caller=self):
            return self.score.project(annotations)

    def scores(self, states: Any, keys: Any, memory_mask: Any) -> tuple[Any, Any]:
        """Return the scores of each state and position, and the positions that can be aligned.

        Both broadcast to `[batch, target_length, source_length]`; see `call`.
        """
        scores = self.score(states, keys)
        check_scores(scores, states.shape, memory_mask.shape, type(self.score).__name__)
        return self.score.skip_padding(scores, memory_mask[:, None])


@keras.saving.register_keras_serializable("kerasnmt")
class IndependentAlignment(ScoredAlignment):
    """Alignment of each target word by itself: any position, wherever the word before stands.

        p(a_t = j | y_<t) = softmax_j(score(s_t, h_j))

    Source: Wu, Shapiro and Cotterell (2018), "Hard non-monotonic attention for character-level
    transduction", with the general score.

    Args:
        score: A `Score`, for example `GeneralScore(units)`.
    """

    def call(self, states: Any, keys: Any, memory_mask: Any) -> Any:
        """Return log p(a_t = j | y_<t), float32 `[batch, target_length, source_length]`."""
        return _log_softmax(*self.scores(states, keys, memory_mask))

    def predict(self, previous: Any, transition: Any) -> Any:
        """Return log p(a_t | y_<t), which is the transition."""
        return transition

    def predict_all(self, start: Any, transition: Any, emission: Any) -> Any:
        """Return log p(a_t | y_<t), which is the transition, without a loop."""
        return transition


@keras.saving.register_keras_serializable("kerasnmt")
class MonotonicAlignment(ScoredAlignment):
    """Alignment that never goes back, of 0th order: the scores do not depend on a_{t-1}.

        p(a_t = j | a_{t-1} = i, y_<t) = softmax_{j >= i}(score(s_t, h_j)),    0 for j < i

    The first target word can have any position.

    Source: Wu and Cotterell (2019), "Exact hard monotonic attention for character-level
    transduction", with the general score.

    Args:
        score: A `Score`, for example `GeneralScore(units)`.
    """

    def call(self, states: Any, keys: Any, memory_mask: Any) -> Any:
        """Return log-probabilities of all transitions; see `LatentAlignment`."""
        scores, possible = self.scores(states, keys, memory_mask)
        possible = ops.logical_and(possible[:, :, None], _jumps(memory_mask) >= 0)
        return _log_softmax(scores[:, :, None], possible)


@keras.saving.register_keras_serializable("kerasnmt")
class JumpAlignment(LatentAlignment):
    """Alignment that never goes back, of 1st order: the scores of its jumps depend on a_{t-1}.

        p(a_t = i + d | a_{t-1} = i, y_<t) = softmax_{0 <= d <= w}((U s_t + V h_i + b)_d)

    The first target word has one of the positions 0 to w. No jump leaves the source. Padding within
    a source counts as words.

    Source: Wu and Cotterell (2019), "Exact hard monotonic attention for character-level
    transduction".

    Args:
        width: Largest jump w.

    Raises:
        ValueError: If `width` is below 1.
    """

    def __init__(self, width: int = 5, **kwargs) -> None:
        super().__init__(**kwargs)
        if width < 1:
            raise ValueError(f"Expected width >= 1. Received: width={width}")
        self.width = width
        dtype = self.dtype_policy
        self.memory_projection = keras.layers.Dense(
            width + 1, dtype=dtype, name="memory_projection"
        )
        self.state_projection = keras.layers.Dense(
            width + 1, use_bias=False, dtype=dtype, name="state_projection"
        )

    def build(self, state_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights; see `LatentAlignment`."""
        self.memory_projection.build(memory_shape)
        self.state_projection.build(state_shape)

    def project(self, annotations: Any) -> Any:
        """Compute V h_i + b, `[batch, source_length, width + 1]`; see `LatentAlignment`."""
        return on_rows(self.memory_projection, annotations)

    def call(self, states: Any, keys: Any, memory_mask: Any) -> Any:
        """Return log-probabilities of all transitions; see `LatentAlignment`."""
        jumps = _jumps(memory_mask)
        # A row of zeros for a jump that is out of range.
        columns = ops.one_hot(jumps, self.width + 1, dtype="float32")
        scores = on_rows(self.state_projection, states)[:, :, None] + keys[:, None]
        scores = ops.einsum("btid,ijd->btij", ops.cast(scores, "float32"), columns)
        near = ops.logical_and(jumps >= 0, jumps <= self.width)
        return _log_softmax(scores, ops.logical_and(memory_mask[:, None, None], near))


def _predict(previous: Any, transition: Any) -> Any:
    """Return the sum over the position before; see `LatentAlignment.predict`."""
    return ops.logsumexp(previous[..., None] + transition, axis=-2)


def normalized(log_probability: Any) -> Any:
    """Return log-probabilities whose probabilities sum to 1 over the last axis."""
    return log_probability - ops.logsumexp(log_probability, axis=-1, keepdims=True)


def _jumps(memory_mask: Any) -> Any:
    """Return j - i of all transitions from i to j, int32 `[source_length, source_length]`."""
    positions = ops.arange(ops.shape(memory_mask)[1], dtype="int32")
    return positions[None, :] - positions[:, None]


def _log_softmax(scores: Any, possible: Any) -> Any:
    """Return the log-softmax over the last axis, where `possible` is true; elsewhere about -1e9."""
    penalties = _penalties(possible)
    return ops.log_softmax(scores + penalties, axis=-1) + penalties


def _penalties(possible: Any) -> Any:
    """Return 0 where `possible` is true and -1e9 elsewhere, float32."""
    return IMPOSSIBLE * ops.cast(ops.logical_not(possible), "float32")
