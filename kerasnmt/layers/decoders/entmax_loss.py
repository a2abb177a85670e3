"""Entmax loss, and log-probabilities that may be those of impossible tokens."""

from typing import Any

from keras import ops

from kerasnmt.layers.attention.normalizers import Entmax, power
from kerasnmt.layers.decoders.copying import IMPOSSIBLE


def log_or_impossible(probability: Any) -> Any:
    """Return the logarithm of a probability, and -1e9 for a probability of 0."""
    positive = probability > 0
    return ops.where(positive, ops.log(ops.where(positive, probability, 1.0)), IMPOSSIBLE)


def entmax_loss(normalizer: Entmax, logits: Any, ids: Any) -> tuple[Any, Any, Any]:
    """Return the log-probability of each id and minus its entmax loss.

        L(y; z) = sum_i p_i (z_i - z_y) + (1 - sum_i p_i^alpha) / (alpha (alpha - 1))
        dL/dz = p - onehot(y),    p = entmax(z)

    The loss is convex and at least 0. It is exactly 0 if p_y = 1, that is, if z_y is above all
    other logits by 1 / (alpha - 1). Alpha towards 1 gives the cross-entropy. The loss has a
    gradient also if p_y is 0, unlike log p_y.

    Source: Peters, Niculae and Martins (2019), "Sparse sequence-to-sequence models", equation 12
    and section 3.3; Peters and Martins (2021), "Smoothing and shrinking the sparse seq2seq search
    space", for label smoothing with the mean over the vocabulary.

    Args:
        normalizer: Entmax, for alpha.
        logits: `[..., vocabulary]`, of any float dtype. They are cast to float32.
        ids: Integers `[...]` in `[0, vocabulary)`.

    Returns:
        log p(id), which is -1e9 for a probability of 0 and has no gradient; -(1/V) sum_v L(v); and
        -L(id); float32 `[...]` each.
    """
    alpha = normalizer.alpha
    vocabulary = logits.shape[-1]

    def of_ids(values: Any) -> Any:
        return ops.take_along_axis(values, ops.expand_dims(ids, -1), axis=-1)

    @ops.custom_gradient
    def all_three(logits: Any) -> tuple:
        distances, radius = normalizer.solve(logits)
        probabilities = power(ops.relu(radius - distances), 1 / (alpha - 1))
        # Where p_i > 0, p_i^(alpha - 1) = r - d_i. So the sums of the loss are that of p_i d_i.
        spread = (alpha - 1.0) * ops.sum(probabilities * distances, axis=-1, keepdims=True)
        base = (1.0 - radius - spread) / (alpha * (alpha - 1.0))
        base = base + ops.max(logits, axis=-1, keepdims=True, initial=-float("inf"))
        mean = ops.mean(logits, axis=-1, keepdims=True)
        outputs = [log_or_impossible(of_ids(probabilities)), mean - base, of_ids(logits) - base]

        def gradient(*args: Any, upstream: Any = None) -> Any:
            if upstream is None:
                (upstream,) = args
            _, of_mean, of_gain = ops.split(upstream, 3, axis=-1)
            wanted = ops.cast(ops.one_hot(ids, vocabulary), "float32")
            return of_gain * wanted + of_mean / vocabulary - (of_gain + of_mean) * probabilities

        return ops.concatenate(outputs, axis=-1), gradient

    outputs = all_three(ops.cast(logits, "float32"))
    return outputs[..., 0], outputs[..., 1], outputs[..., 2]
