"""The loss of guided attention."""

from typing import Any

from keras import ops


def guided_attention_loss(weights: Any, alignments: Any) -> Any:
    """Return the cross-entropy of attention weights under given alignments, a float32 scalar.

    -sum_i A_{t,i} log alpha_{t,i}, averaged over the target words that have an alignment.

    Source: Chen et al. (2016), "Guided alignment training for topic-aware neural machine
    translation", section 3; Mi, Wang and Ittycheriah (2016), "Supervised attentions for neural
    machine translation".

    Args:
        weights: `[batch, target_length, source_length]`.
        alignments: A, of the same shape; rows sum to 1, or to 0 without an alignment.
    """
    alignments = ops.cast(alignments, "float32")
    # So low that only weights which are 0, outside a window, stay without a gradient.
    logarithms = ops.log(ops.maximum(ops.cast(weights, "float32"), 1e-30))
    aligned = ops.cast(ops.any(alignments > 0, axis=-1), "float32")
    return -ops.sum(alignments * logarithms) / ops.maximum(ops.sum(aligned), 1.0)
