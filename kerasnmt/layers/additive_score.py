"""The additive score of Bahdanau et al. (2015)."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.score import Score


@keras.saving.register_keras_serializable("kerasnmt")
class AdditiveScore(Score):
    """e_i = v^T tanh(W h_i + U s + b): one hidden layer compares a query with every key.

    The term of the memory does not depend on the query, so `project` computes it once a source.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", appendix A.1.2. Concatenating [h_i; s] under one matrix W1, as other
    texts write it, is the same function: W1 = [W, U].

    Args:
        units: size of the hidden layer.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        dtype = self.dtype_policy
        self.memory_projection = keras.layers.Dense(units, dtype=dtype, name="memory_projection")
        self.query_projection = keras.layers.Dense(
            units, use_bias=False, dtype=dtype, name="query_projection"
        )

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Make the weights of `call`; those of `project` are made where it is first used.

        Args:
            query_shape: `(..., query_units)`.
            keys_shape: `(batch, source_length, units)`.
        """
        self.query_projection.build(query_shape)
        self.energy = self.add_weight(
            shape=(self.units, 1), initializer="glorot_uniform", name="energy"
        )

    def project(self, memory: Any) -> Any:
        """Project the memory once a source: `[batch, source_length, memory_units]` to keys.

        Returns:
            keys `[batch, source_length, units]`, W h_i + b.
        """
        return self.memory_projection(memory)

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key.

        Args:
            query: `[batch, query_units]` or `[batch, target_length, query_units]`.
            keys: `[batch, source_length, units]`, made by `project`.

        Returns:
            scores, float32, `[batch, source_length]` or
            `[batch, target_length, source_length]`.
        """
        query = on_rows(self.query_projection, query)
        if len(query.shape) == 3:
            keys = ops.expand_dims(keys, 1)
        hidden = ops.tanh(keys + ops.expand_dims(query, -2))
        # Summed in float32, whatever the dtype of the hidden layer.
        hidden = ops.cast(hidden, "float32")
        energy = ops.cast(self.energy, "float32")
        return on_rows(lambda rows: ops.squeeze(ops.matmul(rows, energy), -1), hidden)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
