"""Attention with several heads."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.masked_softmax import masked_softmax
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.products import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class MultiHeadAttention(keras.layers.Layer):
    """Multi-head attention: several attentions in parallel, each with its own projections.

        MultiHead(Q, K, V) = [head_1; ...; head_h] W_O
        head_i = softmax(Q W_Qi (K W_Ki)^T / sqrt(d)) V W_Vi,    d = units / h

    Keys and values are two projections of one memory. In self-attention the memory is also the
    query:

        context, weights = attention(query, memory, memory_mask=mask)
        context, weights = attention(words, words, causal=True)

    In a loop, project the memory once and reuse the keys and values for every query:

        keys, values = attention.project(memory)
        context, weights = attention(query, keys=keys, values=values, memory_mask=mask)

    If the memory carries a Keras mask, for example from `Embedding(mask_zero=True)`, the attention
    uses it unless you pass `memory_mask`. The context keeps the mask of the query.

    The projections have no biases, as in the paper.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.2, equation 1.

    Args:
        units: Size of the projected queries, of the context and of all heads together.
        num_heads: Number h of heads.
        dropout: Dropout rate of the attention weights, in [0, 1).

    Raises:
        ValueError: If `units` is not a multiple of `num_heads`.
    """

    def __init__(self, units: int, num_heads: int, dropout: float = 0.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if num_heads < 1 or units % num_heads:
            raise ValueError(
                "Expected units to be a multiple of num_heads, because all heads have the same "
                f"size. Received: units={units}, num_heads={num_heads}"
            )
        self.units = units
        self.num_heads = num_heads
        self.dropout = dropout
        self.query_projection, self.key_projection, self.value_projection, self.output_layer = (
            keras.layers.Dense(units, use_bias=False, dtype=self.dtype_policy, name=name)
            for name in ("query_projection", "key_projection", "value_projection", "output_layer")
        )
        self.weights_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy, name="weights_dropout"
        )

    def build(self, query_shape: tuple, memory_shape: tuple | None = None) -> None:
        """Make the weights.

        Args:
            query_shape: `(batch, query_length, query_units)`.
            memory_shape: `(batch, memory_length, memory_units)`, or None if `project` has projected
                the memory already.
        """
        build_once(self.query_projection, query_shape)
        build_once(self.output_layer, (None, None, self.units))
        if memory_shape is not None:
            build_once(self.key_projection, memory_shape)
            build_once(self.value_projection, memory_shape)

    def project(self, memory: Any) -> tuple[Any, Any]:
        """Turn a memory `[batch, memory_length, memory_units]` into keys and values.

        Returns:
            The keys and values, `[batch, heads, memory_length, units / heads]` each.
        """
        projections = self.key_projection, self.value_projection
        keys, values = (self._split(on_rows(projection, memory)) for projection in projections)
        return keys, values

    def call(
        self,
        query: Any,
        memory: Any = None,
        keys: Any = None,
        values: Any = None,
        memory_mask: Any = None,
        causal: bool = False,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Attend to a memory.

        Args:
            query: `[batch, query_length, query_units]`.
            memory: `[batch, memory_length, memory_units]`, or None if keys and values are given.
            keys: Keys from `project`, `[batch, heads, memory_length, units / heads]`.
            values: Values from `project`, `[batch, heads, memory_length, units / heads]`.
            memory_mask: Boolean `[batch, memory_length]`, True = real token, or None.
            causal: Whether each query sees only the memory up to its own position.
            training: Whether dropout applies.

        Returns:
            The context, `[batch, query_length, units]`; and the weights before dropout, float32
            `[batch, heads, query_length, memory_length]`, exactly 0 where masked. For a query that
            sees no position, weights and context are zeros.

        Raises:
            ValueError: If neither the memory nor both keys and values are given.
        """
        if memory is not None:
            keys, values = self.project(memory)
        if keys is None or values is None:
            raise ValueError(
                "Expected a memory, or its keys and values. Received: memory=None without both. "
                "Call attention(query, memory), or attention(query, keys=…, values=…) with the "
                "keys and values from attention.project(memory)."
            )
        query = self._split(on_rows(self.query_projection, query))
        query = query / (self.units // self.num_heads) ** 0.5
        mask = None if memory_mask is None else memory_mask[:, None, None, :]
        if causal:
            rows, columns = (ops.arange(ops.shape(tensor)[2]) for tensor in (query, keys))
            earlier = columns <= rows[:, None]
            mask = earlier if mask is None else ops.logical_and(mask, earlier)
        weights = masked_softmax(ops.matmul(query, ops.swapaxes(keys, 2, 3)), mask)
        kept = self.weights_dropout(ops.cast(weights, values.dtype), training=training)
        heads = ops.swapaxes(ops.matmul(kept, values), 1, 2)
        together = ops.reshape(heads, (*ops.shape(heads)[:2], self.units))
        return on_rows(self.output_layer, together), weights

    def _split(self, projected: Any) -> Any:
        """Turn `[batch, length, units]` into `[batch, heads, length, units / heads]`."""
        shape = (*ops.shape(projected)[:2], self.num_heads, self.units // self.num_heads)
        return ops.swapaxes(ops.reshape(projected, shape), 1, 2)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        own = {"units": self.units, "num_heads": self.num_heads, "dropout": self.dropout}
        return {**super().get_config(), **own}
