"""What every score has."""

from typing import Any

import keras


class Score(keras.layers.Layer):
    """The base of scores, which say how well each source position answers a query.

    A score of your own needs `call` alone:

        @keras.saving.register_keras_serializable("my_package")
        class NegativeDistance(Score):
            def call(self, query, keys):
                query = keras.ops.expand_dims(query, -2)  # [batch, (target_length,) 1, units]
                if len(query.shape) == 4:
                    keys = keras.ops.expand_dims(keys, 1)
                return -keras.ops.sum(keras.ops.square(query - keys), axis=-1)

        attention = Attention(NegativeDistance())

    Make weights in `build`. Put what depends only on the memory into `project`, which is called
    once per source.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Make the weights of `call`; by default there are none.

        Args:
            query_shape: `(..., query_units)`.
            keys_shape: `(batch, source_length, key_units)`, of what `project` returns.
        """

    def project(self, memory: Any) -> Any:
        """Turn a memory into the keys of `call`; by default it is its own key.

        Args:
            memory: `[batch, source_length, memory_units]`.

        Returns:
            keys `[batch, source_length, key_units]`.
        """
        return memory

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key.

        Args:
            query: `[batch, query_units]` or `[batch, target_length, query_units]`.
            keys: `[batch, source_length, key_units]`, made by `project`.

        Returns:
            scores, float32, `[batch, source_length]` or `[batch, target_length, source_length]`.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method `call(query, keys)`.")
