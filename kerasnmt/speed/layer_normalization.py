"""Layer normalization with a gradient of fewer ops."""

from typing import Any

from keras import ops


def layer_normalization(epsilon: float, custom_gradient: bool, *tensors: Any) -> Any:
    """Normalize the first tensor, `[..., units]`. The others are gamma and beta.

    Args:
        epsilon: Small number, which is added to the variance.
        custom_gradient: Whether the gradient is the one written here, not Keras' own.
        *tensors: Inputs, gamma and beta, of one dtype.
    """

    def normalized(inputs: Any, gamma: Any, beta: Any) -> tuple:
        centered = inputs - ops.mean(inputs, axis=-1, keepdims=True)
        inverse = ops.rsqrt(ops.mean(ops.square(centered), axis=-1, keepdims=True) + epsilon)
        standard = centered * inverse

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

    return ops.custom_gradient(normalized)(*tensors) if custom_gradient else normalized(*tensors)[0]
