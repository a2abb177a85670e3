"""Layer normalization with a gradient of few ops."""

from typing import Any

from keras import ops

from kerasnmt.speed.drop_in import replaces


def plain_layer_normalization(inputs: Any, gamma: Any, beta: Any, epsilon: float) -> Any:
    """Normalize the last axis of the inputs, like `keras.layers.LayerNormalization`.

        y = gamma * (x - mean) / sqrt(variance + epsilon) + beta

    Args:
        inputs: Floats `[..., units]`.
        gamma: `[units]`, of the same dtype.
        beta: `[units]`, of the same dtype.
        epsilon: Small number, which is added to the variance.
    """
    return _standard(inputs, epsilon)[0] * gamma + beta


@replaces(plain_layer_normalization)
def layer_normalization(inputs: Any, gamma: Any, beta: Any, epsilon: float) -> Any:
    """Normalize the last axis; see `plain_layer_normalization`.

    Its custom gradient takes fewer ops.
    """

    @ops.custom_gradient
    def normalized(inputs: Any, gamma: Any, beta: Any) -> tuple:
        standard, inverse = _standard(inputs, epsilon)

        def gradient(*args: Any, upstream: Any = None) -> tuple:
            if upstream is None:
                (upstream,) = args
            positions = tuple(range(len(inputs.shape) - 1))
            of_gamma = ops.sum(upstream * standard, axis=positions)
            of_beta = ops.sum(upstream, axis=positions)
            upstream = upstream * gamma
            along = ops.mean(upstream * standard, axis=-1, keepdims=True)
            mean = ops.mean(upstream, axis=-1, keepdims=True)
            return (upstream - standard * along - mean) * inverse, of_gamma, of_beta

        return standard * gamma + beta, gradient

    return normalized(inputs, gamma, beta)


def _standard(inputs: Any, epsilon: float) -> tuple[Any, Any]:
    """Return the inputs with mean 0 and variance 1, and the inverse of their deviation."""
    centered = inputs - ops.mean(inputs, axis=-1, keepdims=True)
    inverse = ops.rsqrt(ops.mean(ops.square(centered), axis=-1, keepdims=True) + epsilon)
    return centered * inverse, inverse
