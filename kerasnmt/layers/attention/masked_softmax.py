"""Softmax over the source positions that exist."""

from typing import Any

from keras import ops


def masked_softmax(scores: Any, mask: Any = None) -> Any:
    """Normalise scores over the last axis, leaving masked positions out.

    Computed in float32 whatever the dtype of the scores, so that half precision neither overflows
    nor loses small weights.

    Args:
        scores: Float tensor `[..., source_length]`.
        mask: Boolean tensor that broadcasts to the shape of `scores`, True = real token. `None`
            means that every position is real.

    Returns:
        Float32 tensor `[..., source_length]`. Masked positions are exactly 0; the rest of a row
        sums to 1. A row with no real position is all zeros, and its gradient is finite.
    """
    scores = ops.cast(scores, "float32")
    if mask is None:
        return _softmax(scores)
    # A large finite number: with -inf a fully masked row would be NaN, and so would its gradient.
    return ops.where(mask, _softmax(ops.where(mask, scores, -1e9)), 0.0)


def _softmax(scores: Any) -> Any:
    # TensorFlow's op for the softmax, oneDNN's, shares rows out among the threads of a CPU, however
    # few there are: for the five of a search it takes ten times as long as these two.
    return ops.exp(ops.log_softmax(scores, axis=-1))
