"""Dropout with cheap random numbers."""

from typing import Any

import keras
from keras import ops

# Random integers in each row of a draw, a constant when a graph is traced.
_INTEGERS = 32


def byte_dropout(inputs: Any, rate: float, seed: keras.random.SeedGenerator) -> Any:
    """Drop features like `keras.random.dropout`, with one random byte for each, not four.

    The rate is rounded to a multiple of 1/256, from 1/256 to 255/256. The features that remain are
    divided by 1 minus the rounded rate.

    Source: Dao et al. (2022), "FlashAttention", which draws bytes too.

    Args:
        inputs: Tensor of any shape.
        rate: Dropout rate, above 0 and below 1.
        seed: Generator of the seeds.
    """
    values = 256
    dropped = min(max(round(values * rate), 1), values - 1)
    size = ops.size(inputs)
    rows = (size + 4 * _INTEGERS - 1) // (4 * _INTEGERS)
    # TensorFlow draws integers of 32 bits or more.
    integers = keras.random.randint((rows, _INTEGERS), -(2**31), 2**31 - 1, seed=seed)
    drawn = ops.reshape(ops.view(integers, "int8"), (-1,))[:size]
    kept = ops.reshape(drawn >= dropped - values // 2, ops.shape(inputs))
    return inputs * (ops.cast(kept, inputs.dtype) * (values / (values - dropped)))
