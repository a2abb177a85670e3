"""The cosine as a score."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.dot_score import DotScore


@keras.saving.register_keras_serializable("kerasnmt")
class CosineScore(DotScore):
    """e_i = g cos(s, h_i): content-based attention, with a learned sharpness g.

    A cosine lies between -1 and 1, so without g no weight could be more than e^2 times another,
    and over twenty words no word could get more than 28% of the attention; g, a weight that begins
    with `sharpness`, lets the softmax become as peaked as it must.

    Source: Graves, Wayne and Danihelka (2014), "Neural Turing machines", equations 5 and 6, where
    g is the key strength.

    Args:
        sharpness: the first value of g.
    """

    def __init__(self, sharpness: float = 5.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.sharpness = sharpness

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Make the sharpness, and check the sizes as `DotScore` does."""
        super().build(query_shape, keys_shape)
        self.gain = self.add_weight(
            shape=(), initializer=keras.initializers.Constant(self.sharpness), name="gain"
        )

    def project(self, memory: Any) -> Any:
        """Scale every annotation `[batch, source_length, units]` to length 1, once a source."""
        return _unit(memory)

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key; shapes as in `DotScore`."""
        return super().call(_unit(query), keys) * ops.cast(self.gain, "float32")

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "sharpness": self.sharpness}


def _unit(vectors: Any) -> Any:
    """Vectors of length 1, computed in float32; zeros stay zeros, with a finite gradient."""
    wide = ops.cast(vectors, "float32")
    squares = ops.sum(ops.square(wide), axis=-1, keepdims=True)
    return ops.cast(wide * ops.rsqrt(ops.maximum(squares, 1e-12)), vectors.dtype)
