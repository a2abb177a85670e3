"""Softmax over the real source positions."""

from typing import Any

from keras import ops


def masked_softmax(scores: Any, mask: Any = None) -> Any:
    """Normalize scores over the last axis, without the masked positions.

    The softmax is computed in float32 for scores of any dtype, so that half precision neither
    overflows nor loses small weights.

    Args:
        scores: Float tensor `[..., source_length]`. Finite, and far smaller than 1e9, at masked
            positions too.
        mask: Boolean tensor that broadcasts to the shape of `scores`, True = real token. If
            None, every position is real.

    Returns:
        Float32 tensor `[..., source_length]`. Masked positions are exactly 0; the rest of a row
        sums to 1. A row without real positions is all zeros, and its gradient is finite.
    """
    scores = ops.cast(scores, "float32")
    # -1e9 is finite: with -inf a fully masked row and its gradient would be NaN. Sums take half the
    # time of `ops.where`, and so do their gradients. The second sum clears a fully masked row.
    penalties = 0.0 if mask is None else -1e9 * ops.cast(ops.logical_not(mask), "float32")
    # TensorFlow's softmax (oneDNN) splits even a few rows among the threads of a CPU. For the five
    # rows of a search it takes ten times as long as these two ops.
    return ops.exp(ops.log_softmax(scores + penalties, axis=-1) + penalties)
