"""What can be wrong with attention weights."""

import numpy as np

WEIGHT_TOLERANCE = 1e-3


def weight_problems(weights: np.ndarray, target: np.ndarray, source: np.ndarray) -> list[str]:
    """Checks that weights are shares of a source.

    Args:
        weights: Of the signature `attention`, float [batch, target_length, source_length].
        target: Boolean [batch, target_length], True = real token.
        source: Boolean [batch, source_length], likewise.

    Returns:
        Weights that are negative or not finite, weights of padding that are not 0, and target
        tokens whose weights sum to nothing or to more than 1. (Around a predicted place, as with
        Luong's local-p, they sum to less.)
    """
    problems = []
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        problems.append("weights are negative or not finite")
    if (weights[~(target[:, :, None] & source[:, None, :])] != 0).any():
        problems.append("weights of padding are not 0")
    sums = weights.sum(axis=-1)[target]
    wrong = sums[~((sums > 0) & (sums <= 1 + WEIGHT_TOLERANCE))]
    if wrong.size:
        problems.append(
            f"weights of a target token sum to {wrong[0]:.4f} where more than 0 and at most 1 is "
            "expected"
        )
    return problems
