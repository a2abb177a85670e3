"""The penalties of length and of coverage, by which ended sequences are ranked.

Source: Wu et al. (2016), "Google's neural machine translation system", equation 14.
"""

from typing import Any

from keras import ops


def length_penalty(lengths: Any, alpha: float, normalization: str = "wu") -> Any:
    """Return the divisor of a log-probability: ((5 + length) / 6) ** alpha, or length ** alpha.

    Args:
        lengths: Numbers of tokens, the end token included, any shape.
        alpha: 0 leaves log-probabilities as they are; larger values favour longer sequences.
        normalization: `"wu"` for the first formula, `"length"` for the second.

    Returns:
        Float32 tensor of the shape of `lengths`.
    """
    lengths = ops.cast(lengths, "float32")
    return ops.power((5.0 + lengths) / 6.0 if normalization == "wu" else lengths, alpha)


def coverage_penalty(attended: Any, positions: Any, beta: float) -> Any:
    """Return the summand of a rank, beta sum_i log(min(sum_t a_{t,i}, 1)), at most 0.

    Args:
        attended: sum_t a_{t,i}, float32 `[batch, hypotheses, source_length]`. Values below 1e-10
            count as 1e-10.
        positions: Boolean `[batch, source_length]`, True where a position counts.
        beta: 0 for no penalty; larger values demand that more of the source is attended to.

    Returns:
        Float32 `[batch, hypotheses]`.
    """
    logarithms = ops.log(ops.clip(attended, 1e-10, 1.0))
    return beta * ops.sum(ops.where(positions[:, None, :], logarithms, 0.0), axis=-1)
