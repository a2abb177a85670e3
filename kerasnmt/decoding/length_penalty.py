"""By what log-probabilities are divided, so that long sequences may win."""

from typing import Any

from keras import ops


def length_penalty(lengths: Any, alpha: float, normalization: str = "wu") -> Any:
    """Divisor of a log-probability: ((5 + length) / 6) ** alpha, or length ** alpha.

    Source: Wu et al. (2016), "Google's neural machine translation system", equation 14.

    Args:
        lengths: numbers of tokens, the end token included, any shape.
        alpha: 0 leaves log-probabilities as they are; larger values favour longer sequences.
        normalization: `"wu"` for the first, `"length"` for the second.

    Returns:
        float32 tensor of the shape of `lengths`.
    """
    lengths = ops.cast(lengths, "float32")
    return ops.power((5.0 + lengths) / 6.0 if normalization == "wu" else lengths, alpha)
