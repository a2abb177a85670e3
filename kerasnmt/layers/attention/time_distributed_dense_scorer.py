"""Dense layers, applied at every source position, as a score."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.scores import Score
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class TimeDistributedDenseScorer(Score):
    """Score from the same dense layers at every source position.

        e_i = w^T h_i + u^T s + b,               without a hidden layer
        e_i = v^T tanh(W h_i + U s + b) + c,     with a hidden layer

    Without a hidden layer, the score is a single linear neuron. The softmax over i cancels u^T s +
    b, which is the same for every i. So **the attention weights of the linear scorer never depend
    on the decoder**: they are the same for every target word. The library has this scorer because
    tutorials use it.

    With a hidden layer, the weights depend on the query. The softmax cancels c, so this is the
    function of `AdditiveScore`.

    This equals dense layers on the concatenation [h_i; s]. `project` computes the part of h_i once
    per source.

    Args:
        hidden_units: Size of the hidden layer, or None for the single linear neuron.
    """

    def __init__(self, hidden_units: int | None = None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.hidden_units = hidden_units
        dtype = self.dtype_policy
        first_units = hidden_units or 1
        self.memory_projection = keras.layers.Dense(
            first_units, dtype=dtype, name="memory_projection"
        )
        self.query_projection = keras.layers.Dense(
            first_units, use_bias=False, dtype=dtype, name="query_projection"
        )
        if hidden_units:
            self.output_layer = keras.layers.Dense(1, dtype=dtype, name="output_layer")

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Create the weights of `call`. `project` creates its own weights when it is first used.

        Args:
            query_shape: `(..., query_units)`.
            keys_shape: `(batch, source_length, hidden_units or 1)`.
        """
        self.query_projection.build(query_shape)
        if self.hidden_units:
            self.output_layer.build(keys_shape)

    def project(self, memory: Any) -> Any:
        """Apply the first layer to a memory `[batch, source_length, memory_units]`.

        Returns:
            The keys, `[batch, source_length, hidden_units or 1]`.
        """
        return self.memory_projection(memory)

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key.

        Args:
            query: `[batch, query_units]` or `[batch, target_length, query_units]`.
            keys: Keys from `project`, `[batch, source_length, hidden_units or 1]`.

        Returns:
            Scores, float32 `[batch, source_length]` or `[batch, target_length, source_length]`.
        """
        query = on_rows(self.query_projection, query)
        if len(query.shape) == 3:
            keys = ops.expand_dims(keys, 1)
        scores = keys + ops.expand_dims(query, -2)
        if self.hidden_units:
            scores = on_rows(self.output_layer, ops.tanh(scores))
        return ops.cast(ops.squeeze(scores, -1), "float32")
