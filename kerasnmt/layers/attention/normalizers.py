"""Normalizers, which turn scores into weights: softmax, sparsemax and entmax."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.masked_softmax import masked_softmax
from kerasnmt.layers.composite import Composite
from kerasnmt.nearest_name import unknown_name_message


class Normalizer(Composite, keras.layers.Layer):
    """Base class of normalizers, which turn scores into weights.

    A subclass implements `normalize`. It gets float32 scores, which are divided by the temperature:

    ```python
    @keras.saving.register_keras_serializable("my_package")
    class Uniform(Normalizer):
        def normalize(self, scores, mask):
            real = keras.ops.ones_like(scores)
            if mask is not None:
                real = real * keras.ops.cast(mask, "float32")
            return keras.ops.divide_no_nan(real, keras.ops.sum(real, axis=-1, keepdims=True))

    attention = Attention("general", normalizer=Uniform())
    ```

    Args:
        temperature: Divisor of the scores, above 0. A low temperature sharpens the weights.

    Raises:
        ValueError: If the temperature is not above 0.
    """

    def __init__(self, temperature: float = 1.0, **kwargs) -> None:
        super().__init__(autocast=False, **kwargs)
        if not temperature > 0:
            raise ValueError(f"Expected temperature > 0. Received: temperature={temperature}")
        self.temperature = temperature

    def compute_mask(self, scores: Any, previous_mask: Any) -> None:
        """Return no mask, because the last axis of the weights is not that of a Keras mask."""

    def call(self, scores: Any, mask: Any = None) -> Any:
        """Normalize scores over the last axis.

        Args:
            scores: Float `[..., source_length]`, finite, also at masked positions.
            mask: Boolean tensor that broadcasts to the shape of `scores`, True = real token. If
                None, every position is real.

        Returns:
            Float32 `[..., source_length]`. Masked positions are exactly 0; the rest of a row sums
            to 1. A row without real positions is all zeros, and its gradient is finite.
        """
        scores = ops.cast(scores, "float32")
        if self.temperature != 1:
            scores = scores / self.temperature
        return self.normalize(scores, mask)

    def normalize(self, scores: Any, mask: Any) -> Any:
        """Return the weights of float32 scores; see `call`."""
        raise NotImplementedError


@keras.saving.register_keras_serializable("kerasnmt")
class Softmax(Normalizer):
    """Softmax, where every real position has a weight above 0.

        p_i = exp(z_i) / sum_j exp(z_j)

    Args:
        temperature: Divisor of the scores, above 0.
    """

    def normalize(self, scores: Any, mask: Any) -> Any:
        """Return the weights of float32 scores; see `Normalizer.call`."""
        return masked_softmax(scores, mask)


@keras.saving.register_keras_serializable("kerasnmt")
class Entmax(Normalizer):
    """Alpha-entmax, where positions with low scores have a weight of exactly 0.

        p_i = max((alpha - 1) z_i - tau, 0)^(1 / (alpha - 1)),    tau such that sum_i p_i = 1

    The weights become sparser as alpha grows. Alpha towards 1 gives softmax; 2 is sparsemax. A
    bisection finds tau. `Entmax15` and `Sparsemax` are faster for 1.5 and 2.

    The gradient is exact: dp/dz = diag(s) - s s^T / sum_i s_i, where s_i = p_i^(2 - alpha) for
    positive weights and 0 for others. So a position with weight 0 has no gradient.

    Source: Peters, Niculae and Martins (2019), "Sparse sequence-to-sequence models", equations 9
    and 10, algorithm 1 and proposition 1; Blondel, Martins and Niculae (2019), "Learning
    classifiers with Fenchel-Young losses".

    Args:
        alpha: Number above 1, at most 4. Weights below (6e-8)^(1 / (alpha - 1)), which is 0.004 for
            4, are not exact, because the scores have the precision of float32.
        temperature: Divisor of the scores, above 0.

    Raises:
        ValueError: If alpha is out of range, or the temperature is not above 0.
    """

    def __init__(self, alpha: float, temperature: float = 1.0, **kwargs) -> None:
        super().__init__(temperature, **kwargs)
        if not 1 < alpha <= 4:
            raise ValueError(
                'Expected alpha > 1, at most 4; "softmax" is alpha=1, and above 4, float32 has too '
                f"few digits. Received: alpha={alpha}"
            )
        self.alpha = alpha

    def normalize(self, scores: Any, mask: Any) -> Any:
        """Return the weights of float32 scores; see `Normalizer.call`."""
        if mask is None:
            return self._differentiable(scores)
        real = ops.cast(mask, "float32")
        # As in `masked_softmax`. The product clears a fully masked row.
        return self._differentiable(scores - 1e38 * (1.0 - real)) * real

    def _differentiable(self, scores: Any) -> Any:
        """Return the weights of scores, with the exact gradient."""
        alpha = self.alpha

        @ops.custom_gradient
        def weights_and_gradient(scores: Any) -> tuple:
            distances, radius = self.solve(scores)
            inner = ops.relu(radius - distances)

            def gradient(*args: Any, upstream: Any = None) -> Any:
                if upstream is None:
                    (upstream,) = args
                positive = ops.cast(inner > 0, "float32")
                # Without the second term, the power of 0 would be infinite for alpha > 2.
                slopes = power(inner + (1.0 - positive), (2 - alpha) / (alpha - 1)) * positive
                total = ops.sum(slopes, axis=-1, keepdims=True)
                mean = ops.sum(slopes * upstream, axis=-1, keepdims=True) / total
                return slopes * (upstream - mean)

            # The radius has a rounding error, which a large or a small power makes larger.
            weights = power(inner, 1 / (alpha - 1))
            return weights / ops.sum(weights, axis=-1, keepdims=True), gradient

        return weights_and_gradient(scores)

    def solve(self, scores: Any) -> tuple[Any, Any]:
        """Return the distances to the highest score, and the radius in which weights are positive.

            p_i = max(r - d_i, 0)^(1 / (alpha - 1)),    d_i = (alpha - 1) (max_j z_j - z_i)

        The radius is in (0, 1], because the highest score alone has a weight of 1 at r = 1. So
        distances above 1 count as 1.

        Args:
            scores: Float32 `[..., size]`.

        Returns:
            d, `[..., size]`, and r, `[..., 1]`.
        """
        # Keras needs an initial value if there are no rows.
        highest = ops.max(scores, axis=-1, keepdims=True, initial=-float("inf"))
        distances = ops.minimum((self.alpha - 1.0) * (highest - scores), 1.0)
        return distances, self._radius(distances)

    def _radius(self, distances: Any) -> Any:
        """Return the radius, by bisection."""
        radius, width = ops.zeros_like(distances[..., :1]), 1.0
        for _ in range(30):
            width /= 2
            inner = ops.relu(radius + width - distances)
            total = ops.sum(power(inner, 1 / (self.alpha - 1)), axis=-1, keepdims=True)
            radius = radius + width * ops.cast(total < 1, "float32")
        return radius + width


@keras.saving.register_keras_serializable("kerasnmt")
class Entmax15(Entmax):
    """Alpha-entmax with alpha = 1.5, between softmax and sparsemax.

        p_i = max(z_i / 2 - tau, 0)^2,    tau such that sum_i p_i = 1

    The norm of max(r - d_i, 0) is convex in the radius r of `Entmax.solve`. So Newton's method from
    r = 1 approaches the solution from one side. It reaches the precision of float32 within eight
    steps, also for a vocabulary; then it stays there. Unlike sorting, this is fast for a whole
    vocabulary, and every runtime has its operations.

    Source: Peters, Niculae and Martins (2019), "Sparse sequence-to-sequence models", section 3.

    Args:
        temperature: Divisor of the scores, above 0.
    """

    def __init__(self, temperature: float = 1.0, **kwargs) -> None:
        super().__init__(1.5, temperature, **kwargs)

    def _radius(self, distances: Any) -> Any:
        """Return the radius, by Newton's method."""
        radius = ops.ones_like(distances[..., :1])
        for _ in range(10):
            inner = ops.relu(radius - distances)
            norm = ops.sqrt(ops.sum(ops.square(inner), axis=-1, keepdims=True))
            radius = radius - (norm - 1.0) * norm / ops.sum(inner, axis=-1, keepdims=True)
        return radius


@keras.saving.register_keras_serializable("kerasnmt")
class Sparsemax(Entmax):
    """Sparsemax, the nearest point of the probability simplex to the scores.

        p_i = max(z_i - tau, 0),    tau such that sum_i p_i = 1

    Sorted distances d give the radius r of `Entmax.solve`: r = min_k (1 + d_1 + … + d_k) / k.

    Source: Martins and Astudillo (2016), "From softmax to sparsemax: A sparse model of attention
    and multi-label classification", algorithm 1.

    Args:
        temperature: Divisor of the scores, above 0.
    """

    def __init__(self, temperature: float = 1.0, **kwargs) -> None:
        super().__init__(2.0, temperature, **kwargs)

    def _radius(self, distances: Any) -> Any:
        """Return the radius, from sorted distances."""
        counts = ops.cumsum(ops.ones_like(distances), axis=-1)
        sums = 1.0 + ops.cumsum(ops.sort(distances, axis=-1), axis=-1)
        return ops.min(sums / counts, axis=-1, keepdims=True, initial=1.0)


NORMALIZERS = {"softmax": Softmax, "sparsemax": Sparsemax, "entmax15": Entmax15}


def normalizer_layer(normalizer: Any, dtype: Any) -> Normalizer:
    """Return the normalizer of this name, or the normalizer itself.

    Args:
        normalizer: "softmax", "sparsemax" or "entmax15", or a `Normalizer`.
        dtype: Dtype policy of a new layer.

    Raises:
        ValueError: If it is neither a normalizer nor the name of one.
    """
    if isinstance(normalizer, Normalizer):
        return normalizer
    if not isinstance(normalizer, str):
        raise ValueError(
            "Expected a normalizer, such as Entmax(1.3), or its name. Received: "
            f"normalizer={normalizer!r:.60}. A layer of your own is a subclass of Normalizer."
        )
    if normalizer not in NORMALIZERS:
        raise ValueError(unknown_name_message(normalizer, NORMALIZERS, "normalizer"))
    return NORMALIZERS[normalizer](dtype=dtype, name="normalizer")


def power(base: Any, exponent: float) -> Any:
    """Return the power of numbers of at least 0, without `pow` for the usual exponents."""
    usual: dict[float, Any] = {0: ops.ones_like, 1: lambda values: values, 2: ops.square}
    return usual[exponent](base) if exponent in usual else ops.power(base, exponent)
