"""Log-probabilities of tokens, from logits and from features."""

from typing import Any

from keras import ops


def token_log_probability(logits: Any, ids: Any) -> tuple[Any, Any]:
    """Return the log-probability of each id, and the mean over the vocabulary.

    Args:
        logits: `[..., vocabulary]`, of any float dtype. They are cast to float32.
        ids: Integers `[...]` in `[0, vocabulary)`.

    Returns:
        log p(id) and (1/V) sum_v log p(v), float32 `[...]` each.
    """
    log_probabilities = ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
    return _chosen(log_probabilities, ids), ops.mean(log_probabilities, axis=-1)


def _chosen(values: Any, ids: Any) -> Any:
    """Return the value of each id."""
    return ops.squeeze(ops.take_along_axis(values, ops.expand_dims(ids, -1), axis=-1), -1)


def projected_log_probability(features: Any, kernel: Any, bias: Any, ids: Any) -> tuple[Any, Any]:
    """Return `token_log_probability(ops.matmul(features, kernel) + bias, ids)`.

    The logits and their gradient are by far the largest tensors of a training step, so this
    function reads them as few times as possible. It has a custom gradient, where g_1 and g_2 are
    the gradients of its two results:

        d logits = g_1 (onehot(id) - p) + g_2 (1/V - p)
                 = -(g_1 + g_2) (p - onehot(id) g_1 / (g_1 + g_2)) + g_2 / V

    The factor -(g_1 + g_2) of each token multiplies its features instead of its logits. The last
    term and the mean of the logits need only small tensors: the mean of the logits is the product
    of the features and the mean of the kernel. g_1 and g_2 must not cancel out. In a loss, they
    have the same sign.

    Args:
        features: `[tokens, units]`, of any float dtype.
        kernel: `[units, vocabulary]`, of the same dtype.
        bias: `[vocabulary]`, of the same dtype.
        ids: Integers `[tokens]` in `[0, vocabulary)`.

    Returns:
        log p(id) and (1/V) sum_v log p(v), float32 `[tokens]` each.
    """
    dtype = features.dtype
    vocabulary = kernel.shape[-1]
    ids = ops.cast(ids, "int32")  # a smaller dtype cannot count the tokens
    indices = ops.stack([ops.arange(ops.shape(ids)[0], dtype="int32"), ids], axis=-1)

    def single(tensor: Any) -> Any:
        return ops.cast(tensor, "float32")

    @ops.custom_gradient
    def both(features: Any, kernel: Any, bias: Any) -> tuple:
        logits = single(ops.matmul(features, kernel) + bias)
        probabilities = ops.softmax(logits, axis=-1)
        chosen, probability = _chosen(logits, ids), _chosen(probabilities, ids)
        # The log-softmax of all logits is needed only if a probability is too small for `log`.
        log_probability = ops.cond(
            ops.all(probability > 1e-30),
            lambda: ops.log(probability),
            lambda: _chosen(ops.log_softmax(logits, axis=-1), ids),
        )
        mean_kernel = ops.mean(single(kernel), axis=-1)
        mean = ops.matmul(single(features), mean_kernel[:, None])[:, 0] + ops.mean(single(bias))

        def gradient(*args: Any, upstream: Any = None) -> tuple:
            if upstream is None:
                (upstream,) = args
            of_chosen, of_mean = upstream[:, 0], upstream[:, 1]
            factor = -(of_chosen + of_mean)
            kept = ops.cast(ops.divide_no_nan(of_chosen, factor), "float32")
            dense = ops.scatter_update(probabilities, indices, kept, reduction="add")
            dense = ops.cast(dense, dtype)
            wide = single(features)
            scaled = ops.cast(wide * factor[:, None], dtype)
            of_features = single(ops.matmul(dense, ops.transpose(kernel))) * factor[:, None]
            of_features = of_features + of_mean[:, None] * mean_kernel
            of_kernel = ops.matmul(ops.transpose(scaled), dense)
            spread = ops.sum(wide * of_mean[:, None], axis=0) / vocabulary
            of_kernel = of_kernel + ops.cast(spread, dtype)[:, None]
            of_bias = ops.matmul(ops.cast(factor, dtype)[None], dense)[0]
            of_bias = of_bias + ops.cast(ops.sum(of_mean) / vocabulary, dtype)
            return ops.cast(of_features, dtype), of_kernel, of_bias

        return ops.stack([log_probability, log_probability + mean - chosen], axis=-1), gradient

    outputs = both(features, kernel, bias)
    return outputs[:, 0], outputs[:, 1]
