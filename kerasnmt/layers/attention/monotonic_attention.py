"""Attention that moves through the source in one direction."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.attention import Attention, weighted_sum
from kerasnmt.layers.attention.masked_softmax import masked_softmax
from kerasnmt.layers.attention.scores import Score
from kerasnmt.layers.attention.shapes import check_history, check_scores, real_positions
from kerasnmt.layers.composite import build_once

_IMPOSSIBLE = -1e9
_GOLDEN_RATIO = (5**0.5 - 1) / 2


@keras.saving.register_keras_serializable("kerasnmt")
class MonotonicAttention(Attention):
    """Monotonic attention, which never goes back.

        p_{t,i} = sigmoid(g e_{t,i} + r)
        alpha_{t,i} = p_{t,i} sum_{k <= i} alpha_{t-1,k} prod_{k <= l < i} (1 - p_{t,l})

    From the position of the previous word, the decoder looks at one position after the other, and
    stops at position i with probability p_{t,i}. The weights alpha are the expected value over all
    alignments. The first word starts at the first position. The weights sum to less than 1, because
    an alignment that does not stop before the end of the source has no position for this word and
    all later ones.

    In training, normal random numbers are added to g e + r, so that the model learns to be certain.
    Here, each source position has one random number, and each step moves it by the golden ratio.

    With `hard=True`, the attention outside of training stops at the first position with p > 1/2. A
    word without such a position has weights of 0, and the next word starts where this one did, as
    in the paper's algorithm 1. Choose it for a model whose probabilities are nearly 0 or 1.

    With a chunk size w, this is monotonic chunkwise attention (MoChA): a softmax of a second score
    u over the w positions up to the one at which the attention stops.

        beta_{t,j} = sum_{k=j}^{j+w-1} alpha_{t,k} exp(u_{t,j}) / sum_{l=k-w+1}^{k} exp(u_{t,l})

    A step takes memory that grows with the square of the source length.

    Source: Raffel et al. (2017), "Online and linear-time attention by enforcing monotonic
    alignments", where v of the additive score is also normalized; Chiu and Raffel (2018),
    "Monotonic chunkwise attention".

    Args:
        score: A `Score` for e, such as `AdditiveScore(units)`, or a name; see `Attention`.
        chunk_size: Number w of positions of a chunk, or None for one position.
        chunk_score: A `Score` for u. It is needed with a chunk size.
        hard: Whether alignments are hard outside of training.
        noise: Standard deviation of the random numbers in training, at least 0.
        offset: First value of r. A negative one makes the attention look further at first.
        penalty: `DoublyStochastic()`, or None; see `Attention`.

    Raises:
        ValueError: If `score` is not a score or the name of one, `chunk_score` is not a score, a
            part of `Attention` that does not fit is given, only one of `chunk_size` and
            `chunk_score` is given, `chunk_size` is below 1, or `noise` is below 0.
    """

    def __init__(
        self,
        score: Score | str,
        chunk_size: int | None = None,
        chunk_score: Score | None = None,
        hard: bool = False,
        noise: float = 1.0,
        offset: float = -1.0,
        penalty: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        if parts := {"window", "coverage", "normalizer"} & kwargs.keys():
            raise ValueError(
                "Expected no window, coverage or normalizer, because the monotonic alignment takes "
                f"their place. Received: {', '.join(sorted(parts))}. Use Attention."
            )
        # In half precision, the alignment of earlier words would be too inexact.
        super().__init__(score, penalty=penalty, autocast=False, **kwargs)
        too_small = chunk_size is not None and chunk_size < 1
        if (chunk_size is None) != (chunk_score is None) or too_small:
            raise ValueError(
                "Expected a chunk_size of at least 1 with a chunk_score, or neither. Received: "
                f"chunk_size={chunk_size}, chunk_score={chunk_score}"
            )
        if not isinstance(chunk_score, Score | None):
            raise ValueError(f"Expected a Score. Received: chunk_score={chunk_score!r:.60}")
        if noise < 0:
            raise ValueError(f"Expected noise >= 0. Received: noise={noise}")
        self.chunk_size = chunk_size
        self.chunk_score = chunk_score
        self.hard = hard
        self.noise = noise
        self.offset = offset
        self.history = ("previous",)
        self.seed_generator = keras.random.SeedGenerator()

    def _build_parts(self, query_shape: tuple, keys_shape: Any) -> None:
        if self.chunk_score is not None:
            keys_shape, of_chunks = keys_shape
            build_once(self.chunk_score, query_shape, of_chunks)
        super()._build_parts(query_shape, keys_shape)
        start = keras.initializers.Constant(self.offset)
        self.gain = self.add_weight(shape=(), initializer="ones", autocast=False, name="gain")
        self.bias = self.add_weight(shape=(), initializer=start, autocast=False, name="bias")

    def project(self, memory: Any) -> Any:
        """Turn a memory into keys; with a chunk score, into a list of the keys of both scores."""
        keys = super().project(memory)
        if self.chunk_score is None:
            return keys
        with keras.name_scope(self.name, caller=self):
            return [keys, self.chunk_score.project(memory)]

    def initial_history(self, memory_mask: Any, training: bool = False) -> dict[str, Any]:
        """Return the history before the first word; see `BaseAttention`.

        Returns:
            A dict of `previous`, float32 `[batch, source_length]`, which is 1 at the first
            position; and in training, of `random`, uniform in [0, 1), of the same shape.
        """
        zeros = ops.zeros_like(memory_mask, dtype="float32")
        first = ops.equal(ops.arange(ops.shape(memory_mask)[1], dtype="int32"), 0)
        history = {"previous": zeros + ops.cast(first, "float32")}
        if training:
            shape, seed = ops.shape(memory_mask), self.seed_generator
            history["random"] = keras.random.uniform(shape, dtype="float32", seed=seed)
        return history

    def call(
        self,
        query: Any,
        keys: Any = None,
        values: Any = None,
        memory_mask: Any = None,
        previous: Any = None,
        random: Any = None,
        query_mask: Any = None,
        values_mask: Any = None,
        return_history: bool = False,
    ) -> tuple:
        """Attend to the values; see `Attention`.

        The weights are alpha, or beta with chunks. The history is `previous`, the weights alpha of
        the previous word, and in training `random`, numbers in [0, 1); both float32, with the shape
        of the weights.

        Raises:
            ValueError: If `values` or `previous` is missing, or a shape does not fit.
        """
        if previous is None:
            raise ValueError(
                "Expected previous, the weights of the previous word. Received: previous=None. "
                "Begin with attention.initial_history(memory_mask)."
            )
        if memory_mask is None:
            memory_mask = values_mask
        check_history(query.shape, previous=previous, random=random)
        keys, mask = self._checked(query, keys, values, memory_mask)
        keys, of_chunks = (keys, None) if self.chunk_score is None else keys
        dtype = previous.dtype
        previous = ops.cast(previous, "float32")
        scores = self.score(query, keys)
        check_scores(scores, query.shape, values.shape, type(self.score).__name__)
        scores, mask = self.score.skip_padding(ops.cast(scores, "float32"), mask)
        gain, bias = (ops.cast(one, "float32") for one in (self.gain, self.bias))
        energy = gain * scores + bias
        if random is not None:
            random = ops.cast(random, "float32")
            inside = ops.clip(2.0 * random - 1.0, -1.0 + 1e-6, 1.0 - 1e-6)
            energy = energy + self.noise * 2**0.5 * ops.erfinv(inside)
        energy = ops.where(mask, energy, _IMPOSSIBLE)
        if self.hard and random is None:
            alpha, following = _first_stop(energy, previous)
        else:
            alpha = following = _expected_stop(energy, previous)
        weights = alpha
        if self.chunk_score is not None:
            scores = self.chunk_score(query, of_chunks)
            check_scores(scores, query.shape, values.shape, type(self.chunk_score).__name__)
            positions = real_positions(mask)
            scores, mask = self.chunk_score.skip_padding(scores, mask)
            weights = self._in_chunks(scores, mask, positions, alpha)
        context = weighted_sum(weights, values)
        if not return_history:
            return context, weights
        history = {"previous": ops.cast(following, dtype)}
        if random is not None:
            history["random"] = ops.cast((random + _GOLDEN_RATIO) % 1.0, dtype)
        return context, weights, history

    def _in_chunks(self, scores: Any, mask: Any, positions: Any, alpha: Any) -> Any:
        """Return the weights beta of chunks that end where the attention stops."""
        before = positions[..., :, None] - positions[..., None, :]  # of an end k and a position j
        inside = ops.logical_and(before >= 0, before < self.chunk_size)
        inside = ops.logical_and(mask[..., None, :], inside)
        chunks = masked_softmax(scores[..., None, :], inside)
        return ops.sum(alpha[..., None] * chunks, axis=-2)


def _expected_stop(energy: Any, previous: Any) -> Any:
    """Return the expected weights of the position at which the attention stops."""
    passed = ops.cumsum(ops.log_sigmoid(-energy), axis=-1)  # the last position included
    before = passed - ops.log_sigmoid(-energy)
    # log prod_{k <= l < i} (1 - p_l), at most 0, for a start k and a stop i.
    way = before[..., None, :] - before[..., :, None]
    positions = ops.arange(ops.shape(energy)[-1], dtype="int32")
    ahead = positions[:, None] <= positions
    ways = ops.where(ahead, ops.exp(ops.minimum(way, 0.0)), 0.0)
    return ops.sigmoid(energy) * ops.sum(previous[..., None] * ways, axis=-2)


def _first_stop(energy: Any, previous: Any) -> tuple[Any, Any]:
    """Return the one-hot weights of the first stop, and where the next word starts.

    Without a stop, the weights are 0, and the next word starts where this one did.
    """
    ahead = ops.cumsum(previous, axis=-1) > 0.5
    stops = ops.cast(ops.logical_and(ahead, energy > 0), "float32")
    first = stops * ops.cast(ops.cumsum(stops, axis=-1) < 1.5, "float32")
    any_ = ops.sum(first, axis=-1, keepdims=True)
    return first, first + (1.0 - any_) * previous
