"""Probabilities of given tokens, for a loss."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from keras import ops


class TokenProbability(NamedTuple):
    """Probabilities of given tokens, for a loss.

    In a loss, `log` and `mean` must have weights of the same sign, because their gradients must not
    cancel out.

    Attributes:
        log: log p of each token, float32 `[batch, target_length]`.
        mean: Mean of log p over the vocabulary, of the same shape, for label smoothing.
        measured: Dict of tensors of the same shape that a model reports during training. Its keys
            are the decoder's `measures`.
    """

    log: Any
    mean: Any
    measured: dict[str, Any]


class Targets(NamedTuple):
    """Targets whose probabilities a decoder computes, instead of the whole vocabulary.

    Attributes:
        ids: Int32 `[batch, target_length]`, right-padded with 0; extended ids if the decoder
            copies.
        places: Indices of the real tokens in the flattened ids, int32 `[tokens]`. A generator
            computes only these tokens; elsewhere its `log` and `mean` are 0. If None, it computes
            every position, for graphs whose shapes must not depend on values.
    """

    ids: Any
    places: Any = None

    @classmethod
    def real(cls, ids: Any) -> Self:
        """Create targets whose probabilities are computed only for real tokens."""
        (places,) = ops.nonzero(ops.reshape(ids, (-1,)))
        return cls(ids, ops.cast(places, "int32"))

    def apply(self, function: Callable, features: Any) -> list[Any]:
        """Apply a function to the features and ids of the tokens.

        Args:
            function: Function from features `[tokens, units]` and ids `[tokens]` to a tuple of
                tensors `[tokens]`.
            features: `[batch, target_length, units]`.

        Returns:
            List of the results, `[batch, target_length]` each.
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
    """Return the result of `token_log_probability` for logits that are a projection of features.

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
    places = ops.stack([ops.arange(ops.shape(ids)[0], dtype=ids.dtype), ids], axis=-1)

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
