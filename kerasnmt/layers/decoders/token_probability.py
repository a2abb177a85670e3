"""Probabilities of given tokens, for a loss."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from keras import ops


class TokenProbability(NamedTuple):
    """Probabilities of given tokens, as a loss needs them.

    Use `log` and `mean` in a loss with weights of the same sign: their gradients must not cancel
    out.

    Attributes:
        log: log p of each token, float32 `[batch, target_length]`.
        mean: The mean of log p over the vocabulary, of the same shape, for label smoothing.
        measured: Tensors of the same shape that a model reports during training, by the names in
            the decoder's `measures`.
    """

    log: Any
    mean: Any
    measured: dict[str, Any]


class Targets(NamedTuple):
    """Targets whose probabilities a decoder computes, in place of those of all tokens.

    Attributes:
        ids: Int32 `[batch, target_length]`, right-padded with 0. Extended ids if the decoder
            copies.
        places: Places of the real tokens in the flattened ids, int32 `[tokens]`. Elsewhere nothing
            is computed, and `log` and `mean` of a generator are 0. None computes every place, for
            programs whose shapes must not depend on values.
    """

    ids: Any
    places: Any = None

    @classmethod
    def real(cls, ids: Any) -> Self:
        """Make targets whose probabilities are computed for real tokens alone."""
        (places,) = ops.nonzero(ops.reshape(ids, (-1,)))
        return cls(ids, ops.cast(places, "int32"))

    def apply(self, function: Callable, features: Any) -> list[Any]:
        """Apply a function of features and ids to the tokens.

        Args:
            function: Function from features `[tokens, units]` and ids `[tokens]` to a tuple of
                tensors `[tokens]`.
            features: `[batch, target_length, units]`.

        Returns:
            The results, `[batch, target_length]` each.
        """
        shape = ops.shape(self.ids)
        ids = ops.reshape(self.ids, (-1,))
        rows = ops.reshape(features, (-1, features.shape[-1]))
        if self.places is None:
            return [ops.reshape(made, shape) for made in function(rows, ids)]
        made = function(ops.take(rows, self.places, axis=0), ops.take(ids, self.places, axis=0))
        places = self.places[:, None]
        return [ops.reshape(ops.scatter(places, one, ops.shape(ids)), shape) for one in made]


def token_log_probability(logits: Any, ids: Any) -> tuple[Any, Any]:
    """Return the log-probability of each id, and the mean over the vocabulary.

    Args:
        logits: `[..., vocabulary]`, of any float dtype. The computation is in float32.
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
    """Return what `token_log_probability` returns, for logits that are a projection.

    The logits and their gradient are by far the largest tensors of a training step, so each is read
    as few times as possible. The gradient is written by hand:

        d logits = g_1 (onehot(id) - p) + g_2 (1/V - p)
                 = -(g_1 + g_2) (p - onehot(id) g_1 / (g_1 + g_2)) + g_2 / V

    The factor -(g_1 + g_2) of each token multiplies its features in place of its logits, and the
    last term needs sums alone. So does the mean of the logits: it is the product of the features
    and the mean of the kernel. g_1 and g_2 must not cancel out; in a loss they have the same sign.

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
    places = ops.stack([ops.arange(ops.shape(ids)[0], dtype=ids.dtype), ids], axis=-1)

    def single(tensor: Any) -> Any:
        return ops.cast(tensor, "float32")

    @ops.custom_gradient
    def both(features: Any, kernel: Any, bias: Any) -> tuple:
        logits = single(ops.matmul(features, kernel) + bias)
        probabilities = ops.softmax(logits, axis=-1)
        chosen, probability = _chosen(logits, ids), _chosen(probabilities, ids)
        # A pass over all logits is needed only if a probability is too small for its logarithm.
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
            dense = ops.scatter_update(probabilities, places, kept, reduction="add")
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

    made = both(features, kernel, bias)
    return made[:, 0], made[:, 1]
