"""Softmax over the real source positions."""

from typing import Any

from keras import ops


def masked_softmax(scores: Any, mask: Any = None) -> Any:
    """Normalize scores over the last axis, without the masked positions.

    The softmax is computed in float32 for scores of any dtype. So half precision neither overflows
    nor loses small weights.

    Args:
        scores: Float `[..., source_length]`. All scores are finite, also at masked positions,
            and far smaller than 1e38.
        mask: Boolean tensor that broadcasts to the shape of `scores`, True = real token. If None,
            every position is real.

    Returns:
        Float32 `[..., source_length]`. Masked positions are exactly 0; the rest of a row sums to 1.
        A row without real positions is all zeros, and its gradient is finite.
    """
    scores = ops.cast(scores, "float32")
    # -1e38 is below all scores, also of impossible tokens, and finite: with -inf, a fully
    # masked row and its gradient would be NaN. Sums and their gradients take half the time of
    # `ops.where`. The second sum clears a fully masked row.
    penalties = 0.0 if mask is None else -1e38 * ops.cast(ops.logical_not(mask), "float32")
    # TensorFlow's softmax (oneDNN) splits even a few rows among the threads of a CPU. For the five
    # rows of a search, it takes ten times as long as these two ops.
    return ops.exp(ops.log_softmax(scores + penalties, axis=-1) + penalties)
