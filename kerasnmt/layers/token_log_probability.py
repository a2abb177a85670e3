"""Log-probabilities of given ids under logits."""

from typing import Any

from keras import ops


def token_log_probability(logits: Any, ids: Any) -> tuple[Any, Any]:
    """Look up the log-probability of each id, and the mean over the vocabulary.

    The two together are all that a label-smoothed cross-entropy needs. The gradient,

        d logits = g_1 (onehot(id) - p) + g_2 (1/V - p),

    is written out, so that the vocabulary-sized tensors, by far the largest of a training step,
    are passed over as few times as can be and no one-hot tensor is made.

    Args:
        logits: `[..., vocabulary]`; computed in float32 whatever the dtype.
        ids: integers `[...]` in `[0, vocabulary)`.

    Returns:
        log p(id) and (1/V) sum_v log p(v), each float32 `[...]`.
    """
    shape = ops.shape(ids)
    ids = ops.reshape(ids, (-1, 1))
    rows = ops.arange(ops.shape(ids)[0], dtype=ids.dtype)
    places = ops.concatenate([rows[:, None], ids], axis=-1)

    @ops.custom_gradient
    def chosen_and_mean(logits: Any) -> tuple:
        probabilities = ops.softmax(logits, axis=-1)
        # The largest probability is at least 1/V, so its logarithm is exact enough to give the
        # rest without a second pass of exponentials. It comes last: the difference of two large
        # logits is small.
        largest = ops.max(logits, axis=-1)
        largest_log_probability = ops.log(ops.max(probabilities, axis=-1))
        chosen = ops.squeeze(ops.take_along_axis(logits, ids, axis=-1), -1)
        mean = ops.mean(logits, axis=-1)

        def gradient(*args: Any, upstream: Any = None) -> Any:
            if upstream is None:
                (upstream,) = args
            chosen_upstream, mean_upstream = upstream[:, 0], upstream[:, 1:]
            total = chosen_upstream[:, None] + mean_upstream
            dense = mean_upstream / logits.shape[-1] - total * probabilities
            return ops.scatter_update(dense, places, chosen_upstream, reduction="add")

        differences = ops.stack([chosen - largest, mean - largest], axis=-1)
        return differences + largest_log_probability[:, None], gradient

    flat = ops.reshape(ops.cast(logits, "float32"), (-1, logits.shape[-1]))
    both = chosen_and_mean(flat)
    return ops.reshape(both[:, 0], shape), ops.reshape(both[:, 1], shape)
