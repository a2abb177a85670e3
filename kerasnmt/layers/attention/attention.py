"""Attention with any score, normalizer, window and coverage."""

from typing import Any

import keras
from keras import ops, tree

from kerasnmt.layers.attention.base_attention import BaseAttention
from kerasnmt.layers.attention.normalizers import normalizer_layer
from kerasnmt.layers.attention.scores import (
    AdditiveScore,
    CosineScore,
    DotScore,
    GeneralScore,
    LocationScore,
    ScaledDotScore,
    Score,
)
from kerasnmt.layers.attention.shapes import check_history, check_scores, check_shapes, mask_of
from kerasnmt.layers.composite import NON_TRAINABLE, build_once
from kerasnmt.nearest_name import unknown_name_message

# Functions that make a score, by name, from the size of the query.
_SCORES = {
    "additive": lambda units, dtype: AdditiveScore(units, dtype=dtype),
    "concat": lambda units, dtype: AdditiveScore(units, dtype=dtype),  # Luong's name for it
    "cosine": lambda units, dtype: CosineScore(dtype=dtype),
    "dot": lambda units, dtype: DotScore(dtype=dtype),
    "general": lambda units, dtype: GeneralScore(units, dtype=dtype),
    "location": lambda units, dtype: LocationScore(dtype=dtype),
    "scaled_dot": lambda units, dtype: ScaledDotScore(dtype=dtype),
}
_EXAMPLES = {
    "window": "LocalMonotonicWindow(width=10)",
    "coverage": "Coverage()",
    "penalty": "DoublyStochastic()",
}


@keras.saving.register_keras_serializable("kerasnmt")
class Attention(BaseAttention):
    """Attention: a sum of values, weighted by the softmax of scores.

        alpha_i = softmax_i(score(s, h_i)),    c = sum_i alpha_i v_i

    Every score works with every normalizer, with every window and with coverage. Without a window,
    the attention is global: the softmax covers the whole source. Another normalizer, such as
    `Entmax15`, takes the place of the softmax. It gives most positions a weight of exactly 0.

    In your own model:

    ```python
    attention = Attention("general")
    context, weights = attention(query, values=memory, memory_mask=mask)
    ```

    If the values carry a Keras mask, for example from `Embedding(mask_zero=True)`, the attention
    uses it unless you pass `memory_mask`. The context keeps the mask of the query.

    In a loop, project the memory once per source and reuse the keys for every query:

    ```python
    keys = attention.project(memory)
    context, weights = attention(query, keys, values=memory, memory_mask=mask)
    ```

    Keys and values may differ: `values` is any tensor with the memory's length. The layer stores
    nothing between calls. If a window or the coverage depends on earlier words, `initial_history`
    and `call` with `return_history=True` return the arguments of `call` that describe those words.

    Args:
        score: A `Score`, for example `AdditiveScore(units=256)`, or a name: "additive" or "concat",
            "cosine", "dot", "general", "location" or "scaled_dot". A named score takes its size
            from the query. "location" attends to the first 100 positions.
        window: A window layer, for example `LocalMonotonicWindow(width=10)`, or None for global
            attention.
        coverage: `Coverage()`, or None for attention without coverage.
        penalty: Loss on the attention weights of whole targets, `DoublyStochastic()`, or None.
        normalizer: "softmax", "sparsemax" or "entmax15", or a `Normalizer`, for example
            `Entmax(alpha=1.3)` or `Softmax(temperature=0.5)`.

    Raises:
        ValueError: If `score` is not a score or the name of one, `normalizer` is not a normalizer
            or the name of one, or another part is not a layer.
    """

    def __init__(
        self,
        score: Score | str,
        window: keras.layers.Layer | None = None,
        coverage: keras.layers.Layer | None = None,
        penalty: keras.layers.Layer | None = None,
        normalizer: keras.layers.Layer | str = "softmax",
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(score, str | Score):
            raise ValueError(
                "Expected a score or its name. Received: "
                f"score={score!r:.60}. A score of your own is a subclass of "
                "kerasnmt.layers.Score. Queries and values go into the call: "
                'Attention("dot")(query, values=memory).'
            )
        if isinstance(score, str) and score not in _SCORES:
            raise ValueError(unknown_name_message(score, _SCORES, "score"))
        parts = {"window": window, "coverage": coverage, "penalty": penalty}
        for name, part in parts.items():
            if part is not None and not isinstance(part, keras.layers.Layer):
                raise ValueError(
                    f"Expected a layer or None as {name}, such as {_EXAMPLES[name]}. Received: "
                    f"{name}={part!r:.60}"
                )
        self.score: Any = score  # the name until the score is built
        self._score_name = score if isinstance(score, str) else None
        self._query_units = None
        self.window = window
        self.coverage = coverage
        self.penalty = penalty
        self.normalizer = normalizer_layer(normalizer, self.dtype_policy)
        histories = {
            "position": window is not None and window.moves,
            "coverage": coverage is not None,
        }
        self.history = tuple(name for name, needed in histories.items() if needed)

    def build(
        self,
        query_shape: tuple,
        keys_shape: tuple | None = None,
        values_shape: tuple | None = None,
    ) -> None:
        """Create the weights of the score, the window, the coverage and the penalty.

        Args:
            query_shape: `(..., query_units)`.
            keys_shape: `(batch, source_length, key_units)`. If None, the values are projected.
            values_shape: `(batch, source_length, value_units)`.

        Raises:
            ValueError: If there is only one input, the values have other axes, or the score does
                not accept these sizes.
        """
        several = isinstance(query_shape[0], list | tuple)  # from attention([query, values])
        if several or (keys_shape is None and values_shape is None):
            raise ValueError(
                "Expected a query and values, such as the memory. Received: one input. Call "
                "attention(query, values=memory)."
            )
        if values_shape is not None:
            check_shapes(query_shape, values_shape)
        self._query_units = query_shape[-1]
        if isinstance(self.score, str):
            self.score = _SCORES[self.score](self._query_units, self.dtype_policy.name)
            self.score.trainable = self.trainable
        if keys_shape is None:
            keys = self.project(keras.KerasTensor(values_shape))
            keys_shape = tree.map_structure(lambda one: one.shape, keys)
        self._build_parts(query_shape, keys_shape)

    def _build_parts(self, query_shape: tuple, keys_shape: Any) -> None:
        """Create the weights of the parts, from the shapes of `build`."""
        build_once(self.score, query_shape, keys_shape)
        build_once(self.normalizer, (*query_shape[:-1], keys_shape[1]))
        if self.window is not None:
            build_once(self.window, query_shape)
        if self.coverage is not None:
            build_once(self.coverage, keys_shape)
        if self.penalty is not None:
            build_once(self.penalty, keys_shape)

    def project(self, memory: Any) -> Any:
        """Turn a memory `[batch, source_length, memory_units]` into the score's keys.

        Raises:
            ValueError: If the score was given by name, and the attention is not built yet.
        """
        if isinstance(self.score, str):
            raise ValueError(
                "Expected a built attention, because the score is given by name. "
                f"Received: score={self.score!r}. Call attention(query, values=memory) first, or "
                "pass a layer, such as GeneralScore(units)."
            )
        # The score may create weights here; the scope gives them paths of their own.
        with keras.name_scope(self.name, caller=self):
            return self.score.project(memory)

    def call(
        self,
        query: Any,
        keys: Any = None,
        values: Any = None,
        memory_mask: Any = None,
        position: Any = None,
        coverage: Any = None,
        query_mask: Any = None,
        values_mask: Any = None,
        return_history: bool = False,
    ) -> tuple:
        """Attend to the values.

        Args:
            query: `[batch, query_units]`, or `[batch, target_length, query_units]` for several
                queries of the same memory.
            keys: Keys from `project`, `[batch, source_length, key_units]`. If None, the values are
                projected.
            values: `[batch, source_length, value_units]`.
            memory_mask: Boolean `[batch, source_length]`, True = real token. If None, `values_mask`
                is used.
            position: Index of the target word, counted from 0, int32 `[batch]` or
                `[batch, target_length]`, for a window that moves with it. If None, the queries are
                numbered 0, 1, 2, … along the target.
            coverage: Sums of the weights of earlier words, float32 `[batch, source_length]` or
                `[batch, hypotheses, source_length]`, for attention with coverage.
            query_mask: Mask of the query, boolean `[batch, target_length]`, which Keras passes. It
                does not change the result.
            values_mask: Mask of the values, boolean `[batch, source_length]`, which Keras passes.
            return_history: Whether to return the history for the next word, too.

        Returns:
            The context, `[batch, value_units]` or `[batch, target_length, value_units]`; and the
            weights, float32 `[batch, source_length]` or `[batch, target_length, source_length]`.
            Masked positions have a weight of exactly 0. If a source has no real position, all its
            weights are 0. With `return_history`, the history for the next word follows, a dict; see
            `initial_history`.

        Raises:
            ValueError: If `values` is missing, or an argument that the window or the coverage
                needs, if the query has another size than the first query, or if the
                history, the values, the mask or the scores have another shape.
        """
        if self.coverage is not None and coverage is None:
            raise ValueError(
                "Expected coverage, the sums of the weights of earlier words. Received: "
                "coverage=None. Begin with attention.initial_history(memory_mask)."
            )
        if memory_mask is None:
            memory_mask = values_mask
        check_history(query.shape, position=position, coverage=coverage)
        keys, mask = self._checked(query, keys, values, memory_mask)
        if self.coverage is None:
            scores = self.score(query, keys)
        else:
            scores = self._score_covered(query, self.coverage(keys, coverage))
        check_scores(scores, query.shape, values.shape, type(self.score).__name__)
        scores, mask = self.score.skip_padding(scores, mask)
        factor = None
        if self.window is not None:
            inside, factor = self.window(query, keys, memory_mask, position)
            mask = ops.logical_and(mask, inside)
        weights = self.normalizer(scores, mask=mask)
        if factor is not None:
            weights = weights * factor
        context = weighted_sum(weights, values)
        if not return_history:
            return context, weights
        history = {"position": position, "coverage": coverage}
        return context, weights, self._next_history(history, weights)

    def _checked(self, query: Any, keys: Any, values: Any, memory_mask: Any) -> tuple[Any, Any]:
        """Check the arguments of `call`; return the keys, and the mask with the axis of queries."""
        if query.shape[-1] != self._query_units:
            raise ValueError(
                f"Expected queries of {self._query_units} features, like the first one. Received: "
                f"query of shape {tuple(query.shape)}."
            )
        if values is None:
            raise ValueError(
                "Expected values, such as the memory. Received: values=None. "
                "Call attention(query, values=memory)."
            )
        check_shapes(query.shape, values.shape, memory_mask)
        if keys is None:
            keys = self.project(values)
        return keys, mask_of(query, values, memory_mask)

    def _score_covered(self, query: Any, keys: Any) -> Any:
        """Score queries. Hypotheses with keys of their own become rows."""
        if len(query.shape) == 2:
            return self.score(query, keys)
        length, key_units = ops.shape(keys)[2], keys.shape[3]
        rows = ops.reshape(query, (-1, query.shape[2]))
        scores = self.score(rows, ops.reshape(keys, (-1, length, key_units)))
        return ops.reshape(scores, (-1, ops.shape(query)[1], length))

    def initial_history(self, memory_mask: Any, training: bool = False) -> dict[str, Any]:
        """Return the history before the first word; see `BaseAttention`.

        Returns:
            A dict of `position`, int32 `[batch]`, if the window moves, and `coverage`, float32
            `[batch, source_length]`, if there is coverage.
        """
        coverage = ops.zeros_like(memory_mask, dtype="float32")
        values = {"position": ops.cast(coverage[:, 0], "int32"), "coverage": coverage}
        return {name: values[name] for name in self.history}

    def _next_history(self, history: dict[str, Any], weights: Any) -> dict[str, Any]:
        """Return the history for the next word.

        Args:
            history: History of this word, from `initial_history` or the previous word.
            weights: Attention weights of this word, float32 `[batch, source_length]` or
                `[batch, hypotheses, source_length]`.
        """
        following: dict[str, Any] = {}
        if "position" in self.history:
            if history["position"] is None:
                raise ValueError(
                    "Expected position, the index of the target word, because "
                    "return_history=True. Received: position=None. Begin with "
                    "attention.initial_history(memory_mask)."
                )
            following["position"] = history["position"] + 1
        if self.coverage is not None:
            following["coverage"] = self.coverage.following(history["coverage"], weights)
        return following

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments.

        A score that was given by name remains a name, unless it is frozen.
        """
        config = super().get_config()
        if self._score_name is not None and self.trainable and NON_TRAINABLE not in config:
            config["score"] = self._score_name
        return config


def weighted_sum(weights: Any, values: Any) -> Any:
    """Return the sum of the values, weighted by the attention.

        c = sum_i alpha_i v_i

    Args:
        weights: `[batch, source_length]` or `[batch, target_length, source_length]`.
        values: `[batch, source_length, value_units]`.

    Returns:
        `[batch, value_units]` or `[batch, target_length, value_units]`, in the dtype of the values.
    """
    weights = ops.cast(weights, values.dtype)
    if len(weights.shape) == 3:
        return ops.matmul(weights, values)
    # No `ops.matmul`: see "oneDNN" in tutorials/guides/facts.md.
    return ops.einsum("bn,bnd->bd", weights, values)


@keras.saving.register_keras_serializable("kerasnmt")
class BahdanauAttention(Attention):
    """Attention with the additive score and the decoder state s_{t-1} as the query.

        e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b)
        alpha_t = softmax(e_t),    c_t = sum_i alpha_{t,i} h_i

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", equations 5 and 6 and appendix A.1.2.

    Args:
        units: Size of the score's hidden layer.
        coverage: `Coverage()`, or None for attention without coverage.
        penalty: `DoublyStochastic()`, or None; see `Attention`.
        normalizer: Name of a normalizer or a layer; see `Attention`.
    """

    def __init__(
        self,
        units: int,
        coverage: keras.layers.Layer | None = None,
        penalty: keras.layers.Layer | None = None,
        normalizer: keras.layers.Layer | str = "softmax",
        **kwargs,
    ) -> None:
        score = AdditiveScore(units, dtype=kwargs.get("dtype"), name="score")
        super().__init__(score, coverage=coverage, penalty=penalty, normalizer=normalizer, **kwargs)
        self.units = units
