"""Attention with several heads."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.normalizers import normalizer_layer
from kerasnmt.layers.attention.shapes import check_shapes
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class SideBySideGlorot(keras.initializers.Initializer):
    """Glorot's uniform initializer for a matrix of several projections side by side.

    The weights of each projection have the same limits as in a separate matrix.

    Args:
        parts: Number of projections. All have the same size.
    """

    def __init__(self, parts: int) -> None:
        self.parts = parts

    def __call__(self, shape: tuple[int, int], dtype: Any = None) -> Any:
        """Draw a matrix `[size, parts * units]`."""
        limit = (6 / (shape[0] + shape[1] // self.parts)) ** 0.5
        return keras.initializers.RandomUniform(-limit, limit)(shape, dtype=dtype)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {"parts": self.parts}


class _MultiHead(Composite, keras.layers.Layer):
    """Base class of attentions with several heads.

    One matrix product computes several projections of the same inputs, such as keys and values. Its
    columns are sorted by head, so that one transposition splits all projections into heads.
    """

    def __init__(
        self, units: int, num_heads: int, dropout: float, normalizer: Any, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if num_heads < 1 or units % num_heads:
            raise ValueError(
                "Expected units to be a multiple of num_heads, because all heads have the same "
                f"size. Received: units={units}, num_heads={num_heads}"
            )
        self.units = units
        self.num_heads = num_heads
        self.head_units = units // num_heads
        self.dropout = dropout
        self.normalizer = normalizer_layer(normalizer, self.dtype_policy)
        self.output_layer = self._projection(1, "output_layer")
        self.weights_dropout = ByteDropout(dropout, dtype=self.dtype_policy, name="weights_dropout")

    def _projection(self, parts: int, name: str) -> keras.layers.Dense:
        """Return a new layer of several projections side by side."""
        return keras.layers.Dense(
            parts * self.units,
            use_bias=False,
            kernel_initializer=SideBySideGlorot(parts),
            dtype=self.dtype_policy,
            name=name,
        )

    def _heads(self, projection: keras.layers.Dense, inputs: Any) -> list[Any]:
        """Project inputs `[..., size]`; return a list of `[..., heads, units / heads]`."""
        parts = projection.units // self.units
        shape = (-1, self.num_heads, parts * self.head_units)
        if isinstance(inputs, keras.KerasTensor):  # from `project` in a functional model
            heads = keras.layers.Reshape(shape)(projection(inputs))
        else:
            heads = on_rows(lambda rows: ops.reshape(projection(rows), shape), inputs)
        return ops.split(heads, parts, axis=-1)

    def _attend(
        self, query: Any, keys: Any, values: Any, mask: Any, training: bool
    ) -> tuple[Any, Any]:
        """Return the context and the weights.

        Args:
            query: `[batch, query_length, heads, units / heads]`.
            keys: `[batch, heads, units / heads, length]`.
            values: `[batch, heads, length, units / heads]`.
            mask: Boolean tensor that broadcasts to the shape of the weights, or None.
            training: Whether dropout applies.
        """
        scores = ops.matmul(ops.swapaxes(query / self.head_units**0.5, 1, 2), keys)
        weights = self.normalizer(scores, mask=mask)
        kept = self.weights_dropout(ops.cast(weights, values.dtype), training=training)
        heads = ops.swapaxes(ops.matmul(kept, values), 1, 2)
        return on_rows(self.output_layer, _joined(heads)), weights


def _joined(heads: Any) -> Any:
    """Turn `[batch, length, heads, size]` into `[batch, length, heads * size]`."""
    batch, length, count, size = heads.shape
    if batch is None and length is None:
        batch, length = ops.shape(heads)[:2]
    sizes = (-1 if one is None else one for one in (batch, length))
    return ops.reshape(heads, (*sizes, count * size))


@keras.saving.register_keras_serializable("kerasnmt")
class MultiHeadAttention(_MultiHead):
    """Multi-head attention: parallel attentions with their own projections.

        MultiHead(Q, K, V) = [head_1; ...; head_h] W_O
        head_i = softmax(Q W_Qi (K W_Ki)^T / sqrt(d)) V W_Vi,    d = units / h

    Keys and values are two projections of one memory:

    ```python
    context, weights = attention(query, memory, memory_mask=mask)
    ```

    In a loop, project the memory once and reuse the keys and values for every query:

    ```python
    keys, values = attention.project(memory)
    context, weights = attention(query, keys=keys, values=values, memory_mask=mask)
    ```

    If the memory carries a Keras mask, for example from `Embedding(mask_zero=True)`, the attention
    uses it unless you pass `memory_mask`. The context keeps the mask of the query.

    The projections have no biases, as in the paper. The columns of `memory_projection` are sorted
    by head: for each head, first the keys, then the values.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.2, equation 1.

    Args:
        units: Size of the context, and of all heads together.
        num_heads: Number h of heads.
        dropout: Dropout rate of the attention weights, in [0, 1).
        normalizer: Name of a normalizer or a layer; see `Attention`.

    Raises:
        ValueError: If `units` is not a multiple of `num_heads`.
    """

    def __init__(
        self,
        units: int,
        num_heads: int,
        dropout: float = 0.0,
        normalizer: keras.layers.Layer | str = "softmax",
        **kwargs,
    ) -> None:
        super().__init__(units, num_heads, dropout, normalizer, **kwargs)
        self.query_projection = self._projection(1, "query_projection")
        self.memory_projection = self._projection(2, "memory_projection")

    def build(self, query_shape: tuple, memory_shape: tuple | None = None) -> None:
        """Create the weights.

        Args:
            query_shape: `(batch, query_length, query_units)`.
            memory_shape: `(batch, memory_length, memory_units)`, or None if `project` has already
                projected the memory.
        """
        build_once(self.query_projection, query_shape)
        build_once(self.output_layer, (None, None, self.units))
        if memory_shape is not None:
            build_once(self.memory_projection, memory_shape)

    def project(self, memory: Any) -> tuple[Any, Any]:
        """Turn a memory `[batch, memory_length, memory_units]` into keys and values.

        Returns:
            The keys, `[batch, heads, units / heads, memory_length]`, and the values,
            `[batch, heads, memory_length, units / heads]`.
        """
        keys, values = self._heads(self.memory_projection, memory)
        return ops.transpose(keys, (0, 2, 3, 1)), ops.swapaxes(values, 1, 2)

    def call(
        self,
        query: Any,
        memory: Any = None,
        keys: Any = None,
        values: Any = None,
        memory_mask: Any = None,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Attend to a memory.

        Args:
            query: `[batch, query_length, query_units]`.
            memory: `[batch, memory_length, memory_units]`, or None if keys and values are given.
            keys: Keys from `project`, `[batch, heads, units / heads, memory_length]`.
            values: Values from `project`, `[batch, heads, memory_length, units / heads]`.
            memory_mask: Boolean `[batch, memory_length]`, True = real token, or None.
            training: Whether dropout applies.

        Returns:
            The context, `[batch, query_length, units]`; and the weights before dropout, float32
            `[batch, heads, query_length, memory_length]`, exactly 0 where masked. If a query sees
            no position, its weights and its context are zeros.

        Raises:
            ValueError: If neither the memory nor its keys and values are given, or all of them, or
                the memory or the mask have another shape.
        """
        parts = {"memory": memory, "keys": keys, "values": values}
        given = [name for name, part in parts.items() if part is not None]
        if given not in (["memory"], ["keys", "values"]):
            raise ValueError(
                f"Expected a memory, or its keys and values. Received: {given or 'neither'}. "
                "Call attention(query, memory), or attention(query, keys=…, values=…) with the "
                "keys and values from attention.project(memory)."
            )
        if memory is None:
            batch = None if values.shape[0] == 1 else values.shape[0]  # one memory for all queries
            shape = (batch, values.shape[2], self.units)
        else:
            shape = memory.shape
        check_shapes(query.shape, shape, memory_mask, "memory")
        if memory is not None:
            keys, values = self.project(memory)
        (query,) = self._heads(self.query_projection, query)
        mask = None if memory_mask is None else memory_mask[:, None, None, :]
        return self._attend(query, keys, values, mask, training)


@keras.saving.register_keras_serializable("kerasnmt")
class MultiHeadSelfAttention(_MultiHead):
    """Multi-head attention of the words of a text to each other.

    ```python
    context, weights = attention(words, mask=mask)
    ```

    One matrix product computes queries, keys and values. The columns of `words_projection` are
    sorted by head: for each head, first the queries, then the keys, then the values.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.

    Args:
        units: Size of the context, and of all heads together.
        num_heads: Number h of heads.
        dropout: Dropout rate of the attention weights, in [0, 1).
        causal: Whether each word sees only the words up to its own position.
        normalizer: Name of a normalizer or a layer; see `Attention`.

    Raises:
        ValueError: If `units` is not a multiple of `num_heads`.
    """

    # Whether `step` writes to a cache of the earlier words. `SSRU`, which can stand for a causal
    # self-attention, does not.
    caches = True

    def __init__(
        self,
        units: int,
        num_heads: int,
        dropout: float = 0.0,
        causal: bool = False,
        normalizer: keras.layers.Layer | str = "softmax",
        **kwargs,
    ) -> None:
        super().__init__(units, num_heads, dropout, normalizer, **kwargs)
        self.causal = causal
        self.words_projection = self._projection(3, "words_projection")

    def build(self, words_shape: tuple) -> None:
        """Create the weights for words `(batch, length, words_units)`."""
        build_once(self.words_projection, words_shape)
        build_once(self.output_layer, (None, None, self.units))

    def call(self, words: Any, mask: Any = None, training: bool = False) -> tuple[Any, Any]:
        """Attend to all words or, with `causal`, to the words so far.

        Args:
            words: `[batch, length, words_units]`.
            mask: Boolean `[batch, length]`, True = real token, or None.
            training: Whether dropout applies.

        Returns:
            The context, `[batch, length, units]`; and the weights before dropout, float32
            `[batch, heads, length, length]`, exactly 0 where masked. If a word sees no word, its
            weights and its context are zeros.

        Raises:
            ValueError: If the words or the mask have another shape.
        """
        check_shapes(words.shape, words.shape, mask, "words")
        query, keys, values = self._heads(self.words_projection, words)
        keys, values = ops.transpose(keys, (0, 2, 3, 1)), ops.swapaxes(values, 1, 2)
        mask = None if mask is None else mask[:, None, None, :]
        if self.causal:
            positions = ops.arange(ops.shape(words)[1], dtype="int32")
            earlier = positions <= positions[:, None]
            mask = earlier if mask is None else ops.logical_and(mask, earlier)
        return self._attend(query, keys, values, mask, training)

    def remembered(self, words: Any) -> Any:
        """Return the keys and values of each word, which `step` caches.

        Args:
            words: `[..., words_units]`.

        Returns:
            Keys and values side by side, `[..., heads, 2 * units / heads]`.
        """
        _, *keys_and_values = self._heads(self.words_projection, words)
        return ops.concatenate(keys_and_values, axis=-1)

    def step(
        self, words: Any, cached: Any, write: Callable[[Any, Any], Any], written: Any
    ) -> tuple[Any, Any]:
        """Attend from the next word of each hypothesis to the words so far.

        Args:
            words: `[batch, hypotheses, words_units]`.
            cached: Keys and values of the earlier words, from `remembered`,
                `[batch, hypotheses, heads, steps, 2 * units / heads]`.
            write: Function from `TimeCache.next_step`.
            written: Mask of the words up to this one, boolean `[batch, hypotheses, steps]`.

        Returns:
            The context, `[batch, hypotheses, units]`, and the new value of `cached`.
        """
        size = self.head_units
        shape = (-1, ops.shape(words)[1], self.num_heads, 3 * size)
        heads = ops.reshape(on_rows(self.words_projection, words), shape)
        query, keys_and_values = ops.split(heads, [size], axis=-1)
        cached = write(cached, keys_and_values)
        # The query has zeros for the part of the values. So keys and values need not be split,
        # which would copy the whole cache in each step.
        query = ops.pad(query / size**0.5, [(0, 0)] * 3 + [(0, size)])
        scores = ops.squeeze(ops.matmul(cached, ops.expand_dims(query, -1)), -1)
        weights = self.normalizer(scores, mask=written[:, :, None])
        weights = ops.cast(weights, cached.dtype)
        context = ops.matmul(ops.expand_dims(weights, -2), cached)[..., 0, size:]
        return on_rows(self.output_layer, _joined(context)), cached
