"""The dot product over the root of its size."""

from typing import Any

import keras

from kerasnmt.layers.dot_score import DotScore


@keras.saving.register_keras_serializable("kerasnmt")
class ScaledDotScore(DotScore):
    """e_i = s^T h_i / sqrt(n), n the size of both.

    The sum of n products of independent numbers of variance 1 has variance n; divided by its root
    the softmax stays away from where its gradient vanishes.

    Source: Vaswani et al. (2017), section 3.2.1.
    """

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key; shapes as in `DotScore`."""
        return super().call(query, keys) / keys.shape[-1] ** 0.5
