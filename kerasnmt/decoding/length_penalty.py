"""The length penalty of Wu et al. (2016)."""

from typing import Any

from keras import ops


def length_penalty(lengths: Any, alpha: float) -> Any:
    """Divisor of a log-probability: ((5 + length) / 6) ** alpha.

    Source: Wu et al. (2016), "Google's neural machine translation system", equation 14.

    Args:
        lengths: numbers of tokens, the end token included, any shape.
        alpha: 0 leaves log-probabilities as they are; larger values favour longer sequences.

    Returns:
        float32 tensor of the shape of `lengths`.
    """
    return ops.power((5.0 + ops.cast(lengths, "float32")) / 6.0, alpha)
