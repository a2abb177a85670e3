"""Attention whose weights are a mixture of Gaussians that moves through the source."""

import math
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.attention.base_attention import BaseAttention
from kerasnmt.layers.attention.shapes import (
    check_history,
    check_shapes,
    mask_of,
    real_positions,
)
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.on_rows import on_rows

_LEAST = 0.5  # standard deviation


@keras.saving.register_keras_serializable("kerasnmt")
class GaussianAttention(BaseAttention):
    """Attention to positions: a mixture of K Gaussians, whose means only grow.

        [w_t; d_t; v_t] = V tanh(W s_t + b) + c
        mu_{t,k} = mu_{t-1,k} + softplus(d_{t,k}),    sigma_{t,k} = 1/2 + softplus(v_{t,k})
        alpha_{t,i} = sum_k softmax_k(w_t) N(i; mu_{t,k}, sigma_{t,k}),    mu_0 = 0

    Positions i are counted from 1, without padding. The weights depend on the query and on the
    earlier words, not on the content of the source, and there is no softmax over the positions. The
    weights of a word sum to about 1 inside the source, and to less at its ends. 1/2 keeps a
    Gaussian from falling between two positions, and weights whose sum is above 1 are divided by it.
    A new attention moves by one position with each word, so it reaches sources of any length.

    Source: Graves (2013), "Generating sequences with recurrent neural networks", section 5.1;
    Battenberg et al. (2020), "Location-relative attention mechanisms for robust long-form speech
    synthesis", version 2 in table 1.

    Args:
        units: Size of the hidden layer.
        components: Number K of Gaussians.
        width: First standard deviation, in positions, above 0.5.

    Raises:
        ValueError: If `components` is below 1, or `width` is not above 0.5.
    """

    history = ("means",)

    def __init__(self, units: int, components: int = 5, width: float = 1.0, **kwargs) -> None:
        super().__init__(autocast=False, **kwargs)  # half precision has no exact positions
        if components < 1 or width <= _LEAST:
            raise ValueError(
                f"Expected components >= 1 and width > {_LEAST}. Received: "
                f"components={components}, width={width}"
            )
        self.units = units
        self.components = components
        self.width = width
        self.hidden_layer = keras.layers.Dense(
            units, activation="tanh", dtype=self.dtype_policy, name="hidden_layer"
        )
        self.output_layer = keras.layers.Dense(
            3 * components, use_bias=False, dtype=self.dtype_policy, name="output_layer"
        )

    def build(
        self,
        query_shape: tuple,
        keys_shape: tuple | None = None,
        values_shape: tuple | None = None,
    ) -> None:
        """Create the weights for queries `(..., query_units)`."""
        build_once(self.hidden_layer, query_shape)
        build_once(self.output_layer, (None, self.units))
        starts = [0.0, _before_softplus(1.0), _before_softplus(self.width - _LEAST)]
        self.bias = self.add_weight(
            shape=(3 * self.components,),
            initializer=lambda shape, dtype=None: ops.cast(
                ops.repeat(ops.convert_to_tensor(starts, "float32"), self.components), dtype
            ),
            autocast=False,
            name="bias",
        )

    def project(self, memory: Any) -> Any:
        """Return keys without features, `[batch, source_length, 0]`: the weights read none."""
        return memory[..., :0]

    def initial_history(self, memory_mask: Any, training: bool = False) -> dict[str, Any]:
        """Return the history before the first word: `means`, zeros `[batch, components]`."""
        column = ops.zeros_like(memory_mask[:, :1], dtype="float32")
        return {"means": ops.tile(column, (1, self.components))}

    def call(
        self,
        query: Any,
        keys: Any = None,
        values: Any = None,
        memory_mask: Any = None,
        means: Any = None,
        query_mask: Any = None,
        values_mask: Any = None,
        return_history: bool = False,
    ) -> tuple:
        """Attend to the values; see `Attention`.

        Keys are not used. The history is `means`, those of the previous word, float32
        `[batch, components]`, or `[batch, hypotheses, components]`.

        Raises:
            ValueError: If `values` or `means` is missing, or a shape does not fit.
        """
        if values is None or means is None:
            raise ValueError(
                "Expected values, and means of the previous word. Received: "
                f"values={values!r:.60}, means={means!r:.60}. Begin with "
                "attention.initial_history(memory_mask)."
            )
        if memory_mask is None:
            memory_mask = values_mask
        check_shapes(query.shape, values.shape, memory_mask)
        check_history(query.shape, means=means)
        outputs = on_rows(lambda rows: self.output_layer(self.hidden_layer(rows)), query)
        outputs = ops.cast(outputs, "float32") + ops.cast(self.bias, "float32")
        shares, shifts, widths = ops.split(outputs, 3, axis=-1)
        dtype = means.dtype
        means = ops.cast(means, "float32") + ops.softplus(shifts)
        sigma = ops.softplus(widths) + _LEAST
        factors = ops.softmax(shares, axis=-1) / (math.sqrt(2 * math.pi) * sigma)
        mask = mask_of(query, values, memory_mask)
        positions = real_positions(mask) + 1.0
        distances = (positions[..., None, :] - means[..., None]) / sigma[..., None]
        weights = ops.sum(factors[..., None] * ops.exp(-0.5 * ops.square(distances)), axis=-2)
        weights = weights * ops.cast(mask, "float32")
        weights = weights / ops.maximum(ops.sum(weights, axis=-1, keepdims=True), 1.0)
        context = weighted_sum(weights, values)
        if not return_history:
            return context, weights
        return context, weights, {"means": ops.cast(means, dtype)}


def _before_softplus(value: float) -> float:
    """Return the number whose softplus is `value`."""
    return math.log(math.expm1(value))
