"""The bilinear score."""

from typing import Any

import keras

from kerasnmt.layers.dot_score import DotScore


@keras.saving.register_keras_serializable("kerasnmt")
class GeneralScore(DotScore):
    """e_i = s^T W h_i: the dot product with a memory that is projected once a source.

    The weights are V = sqrt(n) W, for n units: `project` makes V h_i / sqrt(n). A step of Adam
    moves all n^2 weights alike, and the score with them; without the divisor a few hundred steps
    throw the softmax onto one position, from which it hardly returns.

    Source: Luong, Pham and Manning (2015), section 3.1, "general"; also called multiplicative or
    bilinear.

    Args:
        units: n, size of the query.
    """

    _advice = "Make GeneralScore with the query's size as its units."

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.memory_projection = keras.layers.Dense(
            units,
            use_bias=False,
            kernel_initializer=keras.initializers.Orthogonal(gain=units**0.5),
            dtype=self.dtype_policy,
            name="memory_projection",
        )

    def project(self, memory: Any) -> Any:
        """Turn a memory `[batch, source_length, memory_units]` into keys W h_i."""
        return self.memory_projection(memory) * self.units**-0.5

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "units": self.units}
