"""The length and coverage penalties that rank ended sequences.

Source: Wu et al. (2016), "Google's neural machine translation system", equation 14.
"""

from typing import Any

from keras import ops


def length_penalty(lengths: Any, alpha: float, normalization: str = "wu") -> Any:
    """Return the divisor of a log-probability: ((5 + length) / 6) ** alpha, or length ** alpha.

    Args:
        lengths: Numbers of tokens, including the end token, any shape.
        alpha: Exponent; 0 for no penalty. Larger values favor longer sequences.
        normalization: `"wu"` for the first formula, `"length"` for the second.

    Returns:
        Float32 tensor of the shape of `lengths`.
    """
    lengths = ops.cast(lengths, "float32")
    return ops.power((5.0 + lengths) / 6.0 if normalization == "wu" else lengths, alpha)


def coverage_penalty(attended: Any, positions: Any, beta: float) -> Any:
    """Return the coverage term of a rank, beta sum_i log(min(sum_t a_{t,i}, 1)), at most 0.

    Args:
        attended: Attention sums sum_t a_{t,i}, float32 `[batch, hypotheses, source_length]`.
            Values below 1e-10 count as 1e-10.
        positions: Boolean `[batch, source_length]`, True where a position counts.
        beta: Weight; 0 for no penalty. Larger values favor attention to all of the source.

    Returns:
        Float32 `[batch, hypotheses]`.
    """
    logarithms = ops.log(ops.clip(attended, 1e-10, 1.0))
    return beta * ops.sum(ops.where(positions[:, None, :], logarithms, 0.0), axis=-1)
