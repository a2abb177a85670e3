"""The dot product as a score."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.score import Score


@keras.saving.register_keras_serializable("kerasnmt")
class DotScore(Score):
    """e_i = s^T h_i: no weights; the query must have the memory's size.

    Source: Luong, Pham and Manning (2015), section 3.1, "dot".
    """

    # What to do where the sizes differ.
    _advice = (
        "Make the decoder as large as the memory, or use GeneralScore, which projects the memory "
        "to the query's size."
    )

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Check the sizes; there are no weights to make.

        Args:
            query_shape: `(..., units)`.
            keys_shape: `(batch, source_length, units)`.

        Raises:
            ValueError: the query and the keys differ in size.
        """
        if query_shape[-1] != keys_shape[-1]:
            raise ValueError(
                f"{type(self).__name__} multiplies the query with the keys, so their last "
                f"dimensions must agree. Received: query_shape={tuple(query_shape)}, "
                f"keys_shape={tuple(keys_shape)}. {self._advice}"
            )

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key.

        Args:
            query: `[batch, units]` or `[batch, target_length, units]`.
            keys: `[batch, source_length, units]`.

        Returns:
            scores, float32, `[batch, source_length]` or `[batch, target_length, source_length]`.
        """
        query, keys = (ops.cast(tensor, "float32") for tensor in (query, keys))
        if len(query.shape) == 3:
            return ops.matmul(query, ops.transpose(keys, (0, 2, 1)))
        return ops.squeeze(ops.matmul(keys, ops.expand_dims(query, -1)), -1)
