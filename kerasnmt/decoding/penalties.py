"""Length and coverage penalties, which rank ended sequences.

Source: Wu et al. (2016), "Google's neural machine translation system", equation 14.
"""

from typing import Any

from keras import ops


def length_penalty(lengths: Any, alpha: float, normalization: str = "wu") -> Any:
    """Return the length penalty, the divisor of a log-probability.

        lp(n) = ((5 + n) / 6)^alpha,    or n^alpha

    Args:
        lengths: Numbers n of tokens, including the end token, of any shape.
        alpha: Exponent; 0 for no penalty. Larger values favor longer sequences.
        normalization: `"wu"` for the first formula, `"length"` for the second.

    Returns:
        Float32 tensor with the shape of `lengths`.
    """
    lengths = ops.cast(lengths, "float32")
    return ops.power((5.0 + lengths) / 6.0 if normalization == "wu" else lengths, alpha)


def coverage_penalty(attended: Any, positions: Any, beta: float) -> Any:
    """Return the coverage penalty, which is added to a score.

        cp = beta sum_i log(min(sum_t a_{t,i}, 1))

    Args:
        attended: Attention sums sum_t a_{t,i}, float32 `[batch, hypotheses, source_length]`. Values
            below 1e-10 count as 1e-10.
        positions: Boolean `[batch, source_length]`, True for positions that count.
        beta: Weight; 0 for no penalty. Larger values favor attention to the whole source.

    Returns:
        Float32 `[batch, hypotheses]`, at most 0.
    """
    logarithms = ops.log(ops.clip(attended, 1e-10, 1.0))
    return beta * ops.sum(ops.where(positions[:, None, :], logarithms, 0.0), axis=-1)
