"""Losses: cross-entropy with label smoothing, R-Drop and guided attention."""

from typing import Any

from keras import ops

from kerasnmt.ids import PAD_ID


def token_weights(targets: Any, sample_weight: Any = None) -> Any:
    """Return the weight of each target token, float32 `[batch, target_length]`, 0 for padding.

    Args:
        targets: Int32 `[batch, target_length]`, padded with 0.
        sample_weight: Weights of the tokens, float `[batch, target_length]`, or of the sentences,
            `[batch]` or `[batch, 1]`. None for weights of 1.

    Raises:
        ValueError: If the weights have another shape.
    """
    weight = ops.cast(ops.not_equal(targets, PAD_ID), "float32")
    if sample_weight is None:
        return weight
    sample_weight = ops.convert_to_tensor(sample_weight, "float32")
    if (
        getattr(sample_weight.shape, "rank", 0) is None
    ):  # TensorFlow forgets a rank that changes from call to call
        sample_weight = ops.reshape(sample_weight, (ops.shape(targets)[0], -1))
    if len(sample_weight.shape) == 1:
        sample_weight = ops.expand_dims(sample_weight, 1)
    rows, width = (*sample_weight.shape, None, None)[:2]
    of_sentences_or_tokens = width in (1, None) or weight.shape[1] in (width, None)
    of_all_rows = rows is None or weight.shape[0] in (rows, None)
    if len(sample_weight.shape) != 2 or not (of_all_rows and of_sentences_or_tokens):
        raise ValueError(
            "Expected a sample_weight of shape [batch], [batch, 1] or [batch, target_length], here "
            f"{list(weight.shape)}. Received: the shape {list(sample_weight.shape)}."
        )
    return weight * sample_weight


def cross_entropy(
    log_probability: Any,
    mean_log_probability: Any,
    weight: Any,
    tokens: Any,
    label_smoothing: float = 0.0,
) -> Any:
    """Return the mean cross-entropy of the tokens of a batch, a float32 scalar.

        -sum_t w_t ((1 - epsilon) log p(y_t) + epsilon / V sum_v log p(v)) / tokens

    Source: Szegedy, Vanhoucke, Ioffe, Shlens and Wojna (2016), "Rethinking the inception
    architecture for computer vision", section 7, for label smoothing.

    Args:
        log_probability: log p(y_t), float32 `[batch, target_length]`, or minus another loss.
        mean_log_probability: Its mean over the vocabulary, of the same shape.
        weight: w, of the same shape, 0 for padding.
        tokens: Sum of the weights, a float32 scalar.
        label_smoothing: epsilon, the probability that is spread over the vocabulary.
    """
    if label_smoothing:  # without it, no graph computes the mean
        log_probability = (1.0 - label_smoothing) * log_probability
        log_probability = log_probability + label_smoothing * mean_log_probability
    return ops.divide_no_nan(-ops.sum(weight * log_probability), tokens)


def r_drop_loss(log_probability: Any, weight: Any, tokens: Any) -> Any:
    """Return the divergence of the predictions of two passes with dropout, a float32 scalar.

        sum_t w_t (KL(p_t || q_t) + KL(q_t || p_t)) / 2 / tokens

    p are the predictions for the first half of a batch. q are the predictions for the second half,
    which repeats the first half.

    Source: Liang, Wu, Li, Wang, Meng, Qin, Chen, Zhang and Liu (2021), "R-Drop: Regularized dropout
    for neural networks", equation 2.

    Args:
        log_probability: log p and log q of every id, float32 `[2 * batch, target_length, ids]`.
        weight: w, float32 `[2 * batch, target_length]`, 0 for padding.
        tokens: Sum of the weights of both halves, a float32 scalar.
    """
    first, second = ops.split(log_probability, 2)
    divergence = ops.sum((ops.exp(first) - ops.exp(second)) * (first - second), axis=-1) / 2
    weight, _ = ops.split(weight, 2)
    return ops.divide_no_nan(ops.sum(weight * divergence), tokens)


def guided_attention_loss(weights: Any, alignments: Any) -> Any:
    """Return the cross-entropy of attention weights with given alignments, a float32 scalar.

        loss_t = -sum_i A_{t,i} log alpha_{t,i}

    The loss is averaged over the target words that have an alignment.

    Source: Chen, Matusov, Khadivi and Peter (2016), "Guided alignment training for topic-aware
    neural machine translation", section 3; Mi, Wang and Ittycheriah (2016), "Supervised attentions
    for neural machine translation".

    Args:
        weights: alpha, `[batch, target_length, source_length]`.
        alignments: A, of the same shape. Rows sum to 1, or to 0 for words without an alignment.
    """
    alignments = ops.cast(alignments, "float32")
    # Below 1e-30, a weight has no gradient: outside a window, or where a sparse normalizer gives 0.
    logarithms = ops.log(ops.maximum(ops.cast(weights, "float32"), 1e-30))
    aligned = ops.cast(aligned_words(alignments), "float32")
    return -ops.sum(alignments * logarithms) / ops.maximum(ops.sum(aligned), 1.0)


def aligned_words(alignments: Any) -> Any:
    """Return which target words have an alignment, boolean `[batch, target_length]`."""
    return ops.any(alignments > 0, axis=-1)
