"""The coverage penalty of Wu et al. (2016)."""

from typing import Any

from keras import ops


def coverage_penalty(attended: Any, positions: Any, beta: float) -> Any:
    """Summand of a rank: beta sum_i log(min(sum_t a_{t,i}, 1)), at most 0.

    Source: Wu et al. (2016), "Google's neural machine translation system", equation 14.

    Args:
        attended: sum_t a_{t,i}, float32 `[batch, hypotheses, source_length]`; as if 1e-10 where
            it is less.
        positions: boolean `[batch, source_length]`, which positions count.
        beta: 0 for none; larger values ask for more of the source.

    Returns:
        float32 `[batch, hypotheses]`.
    """
    logarithms = ops.log(ops.clip(attended, 1e-10, 1.0))
    return beta * ops.sum(ops.where(positions[:, None, :], logarithms, 0.0), axis=-1)
