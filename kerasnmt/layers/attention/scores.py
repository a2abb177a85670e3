"""Scores, which measure how well a query matches each key."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.shapes import real_positions
from kerasnmt.layers.composite import Composite
from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.orthogonal import Orthogonal
from kerasnmt.speed.gather import take_rows


class Score(Composite, keras.layers.Layer):
    """Base class of scores, which measure how well a query matches each source position.

    Your own score needs only `call`:

    ```python
    @keras.saving.register_keras_serializable("my_package")
    class NegativeDistance(Score):
        def call(self, query, keys):
            query = keras.ops.expand_dims(query, -2)  # [batch, (target_length,) 1, units]
            if len(query.shape) == 4:
                keys = keras.ops.expand_dims(keys, 1)
            return -keras.ops.sum(keras.ops.square(query - keys), axis=-1)

    attention = Attention(NegativeDistance())
    ```

    `project` computes everything that depends only on the memory, once per source. It runs before
    `build`, so its weights must belong to layers that the constructor creates. Create the weights
    of `call` in `build`.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Create the weights of `call`. By default there are none.

        Args:
            query_shape: `(..., query_units)`.
            keys_shape: `(batch, source_length, key_units)`, the shape of the keys from `project`.
        """

    def project(self, memory: Any) -> Any:
        """Turn a memory into the keys of `call`. By default, the keys are the memory.

        Args:
            memory: `[batch, source_length, memory_units]`.

        Returns:
            The keys, `[batch, source_length, key_units]`.
        """
        return memory

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key.

        Args:
            query: `[batch, query_units]` or `[batch, target_length, query_units]`.
            keys: Keys from `project`, `[batch, source_length, key_units]`.

        Returns:
            Scores, float32 `[batch, source_length]` or `[batch, target_length, source_length]`.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method `call(query, keys)`.")

    def skip_padding(self, scores: Any, mask: Any) -> tuple[Any, Any]:
        """Return the scores and the mask of a memory with padding. By default, both stay.

        A score that depends on the position, such as `LocationScore`, counts only real tokens here.

        Args:
            scores: From `call`, `[..., source_length]`.
            mask: Boolean, True = real token. It broadcasts to the shape of the scores.

        Returns:
            The scores; and the positions that can get attention, with the shape of the mask.
        """
        return scores, mask


@keras.saving.register_keras_serializable("kerasnmt")
class DotScore(Score):
    """Dot product of the query and each key, without weights.

        e_i = s^T h_i

    The query and the memory have the same size.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.1, "dot".
    """

    # The remedy in the error for different sizes.
    _advice = (
        "Make the decoder as large as the memory, or use GeneralScore, which projects the memory "
        "to the query's size."
    )

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Check the sizes. There are no weights.

        Args:
            query_shape: `(..., units)`.
            keys_shape: `(batch, source_length, units)`.

        Raises:
            ValueError: If the query and the keys differ in size.
        """
        if query_shape[-1] != keys_shape[-1]:
            raise ValueError(
                "Expected a query and keys with equal last dimensions, because "
                f"{type(self).__name__} multiplies them. Received: "
                f"query_shape={tuple(query_shape)}, keys_shape={tuple(keys_shape)}. {self._advice}"
            )

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key.

        Args:
            query: `[batch, units]` or `[batch, target_length, units]`.
            keys: `[batch, source_length, units]`.

        Returns:
            Scores, float32 `[batch, source_length]` or `[batch, target_length, source_length]`.
        """
        query, keys = (ops.cast(tensor, "float32") for tensor in (query, keys))
        if len(query.shape) == 3:
            return ops.matmul(query, ops.transpose(keys, (0, 2, 1)))
        # No `ops.matmul`: see "oneDNN" in tutorials/guides/facts.md.
        return ops.einsum("bd,bnd->bn", query, keys)


@keras.saving.register_keras_serializable("kerasnmt")
class ScaledDotScore(DotScore):
    """Dot product, divided by the square root of its size.

        e_i = s^T h_i / sqrt(n),    where n is the size of s and h_i

    The sum of n products of independent numbers of variance 1 has variance n. Division by sqrt(n)
    keeps the softmax away from the region where its gradient vanishes.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1.
    """

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key; see `DotScore` for the shapes."""
        return super().call(query, keys) / keys.shape[-1] ** 0.5


@keras.saving.register_keras_serializable("kerasnmt")
class GeneralScore(DotScore):
    """General score: the dot product of the query and a projected memory.

        e_i = s^T W h_i

    This score is also called multiplicative or bilinear. The memory is projected once per source.

    For n units, the layer stores V = sqrt(n) W, and `project` computes V h_i / sqrt(n). A step of
    Adam changes all n^2 weights by about the same amount, and these changes add up in the score.
    Without the divisor, the softmax gets stuck at one position within a few hundred steps.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.1, "general".

    Args:
        units: Size n of the query.
    """

    _advice = "Set the units of GeneralScore to the size of the query."

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.memory_projection = keras.layers.Dense(
            units,
            use_bias=False,
            kernel_initializer=Orthogonal(gain=units**0.5),
            dtype=self.dtype_policy,
            name="memory_projection",
        )

    def project(self, memory: Any) -> Any:
        """Turn a memory `[batch, source_length, memory_units]` into the keys W h_i."""
        # In a functional model of Keras, the product with a number is a sparse tensor.
        return self.memory_projection(memory) / self.units**0.5


@keras.saving.register_keras_serializable("kerasnmt")
class CosineScore(DotScore):
    """Content-based score: the cosine of the query and each key, times a learned sharpness g.

        e_i = g cos(s, h_i)

    A cosine lies between -1 and 1. Without g, no attention weight could be more than e^2 times
    another, and no word of twenty could get more than 28% of the attention. With g, the softmax can
    become as peaked as needed.

    Source: Graves, Wayne and Danihelka (2014), "Neural Turing machines", equations 5 and 6, where g
    is the key strength.

    Args:
        sharpness: Initial value of g.
    """

    def __init__(self, sharpness: float = 5.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.sharpness = sharpness

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Create the weight g, and check the sizes; see `DotScore`."""
        super().build(query_shape, keys_shape)
        self.gain = self.add_weight(
            shape=(), initializer=keras.initializers.Constant(self.sharpness), name="gain"
        )

    def project(self, memory: Any) -> Any:
        """Scale every annotation `[batch, source_length, units]` to length 1, once per source."""
        return _unit(memory)

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key; see `DotScore` for the shapes."""
        return super().call(_unit(query), keys) * ops.cast(self.gain, "float32")


def _unit(vectors: Any) -> Any:
    """Scale vectors to length 1, in float32; zeros stay zeros, with a finite gradient."""
    wide = ops.cast(vectors, "float32")
    squares = ops.sum(ops.square(wide), axis=-1, keepdims=True)
    return ops.cast(wide * ops.rsqrt(ops.maximum(squares, 1e-12)), vectors.dtype)


@keras.saving.register_keras_serializable("kerasnmt")
class LocationScore(Score):
    """Location-based score, which depends on the query but not on the keys.

        e = W s

    A source of length S uses the first S rows of W. Positions are counted without padding. From
    `max_length` on, they get no attention.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", equation 8.

    Args:
        max_length: Number of source positions that can get attention, the rows of W.
    """

    def __init__(self, max_length: int = 100, **kwargs) -> None:
        super().__init__(**kwargs)
        self.max_length = max_length
        self.query_projection = keras.layers.Dense(
            max_length, use_bias=False, dtype=self.dtype_policy, name="query_projection"
        )

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Create the weights for a query `(..., query_units)`. The keys do not matter."""
        self.query_projection.build(query_shape)

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every position.

        Args:
            query: `[batch, query_units]` or `[batch, target_length, query_units]`.
            keys: `[batch, source_length, ...]`; only its length is used.

        Returns:
            Scores, float32 `[batch, source_length]` or `[batch, target_length, source_length]`, of
            a memory without padding. Positions from `max_length` on have the score of the last row.
        """
        positions = ops.arange(ops.shape(keys)[1], dtype="int32")
        scores = ops.cast(on_rows(self.query_projection, query), "float32")
        return ops.take(scores, ops.minimum(positions, self.max_length - 1), axis=-1)

    def skip_padding(self, scores: Any, mask: Any) -> tuple[Any, Any]:
        """Return the scores and the mask of a memory with padding; see `Score`."""
        positions = real_positions(mask)
        columns = ops.cast(ops.maximum(positions, 0.0), "int32")
        columns = ops.broadcast_to(columns, ops.shape(scores))
        scores = take_rows(scores, columns, axis=len(scores.shape) - 1)
        return scores, ops.logical_and(mask, positions < self.max_length)


@keras.saving.register_keras_serializable("kerasnmt")
class AdditiveScore(Score):
    """Additive score: a network with one hidden layer.

        e_i = v^T tanh(W h_i + U s + b)

    W h_i + b does not depend on the query, so `project` computes it once per source. Other texts
    multiply one matrix W_1 by the concatenation [h_i; s]. This is the same function, with W_1 = [W,
    U].

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", appendix A.1.2.

    Args:
        units: Size of the hidden layer.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        dtype = self.dtype_policy
        self.memory_projection = keras.layers.Dense(units, dtype=dtype, name="memory_projection")
        self.query_projection = keras.layers.Dense(
            units, use_bias=False, dtype=dtype, name="query_projection"
        )

    def build(self, query_shape: tuple, keys_shape: tuple) -> None:
        """Create the weights of `call`. `project` creates its own weights when it is first used.

        Args:
            query_shape: `(..., query_units)`.
            keys_shape: `(batch, source_length, units)`.
        """
        self.query_projection.build(query_shape)
        self.energy = self.add_weight(
            shape=(self.units, 1), initializer="glorot_uniform", name="energy"
        )

    def project(self, memory: Any) -> Any:
        """Turn a memory `[batch, source_length, memory_units]` into keys, once per source.

        Returns:
            The keys W h_i + b, `[batch, source_length, units]`.
        """
        return self.memory_projection(memory)

    def call(self, query: Any, keys: Any) -> Any:
        """Score a query against every key.

        Args:
            query: `[batch, query_units]` or `[batch, target_length, query_units]`.
            keys: Keys from `project`, `[batch, source_length, units]`.

        Returns:
            Scores, float32 `[batch, source_length]` or `[batch, target_length, source_length]`.
        """
        query = on_rows(self.query_projection, query)
        if len(query.shape) == 3:
            keys = ops.expand_dims(keys, 1)
        hidden = ops.tanh(keys + ops.expand_dims(query, -2))
        # The sum is in float32 for any dtype of the hidden layer.
        hidden = ops.cast(hidden, "float32")
        energy = ops.cast(self.energy, "float32")
        return on_rows(lambda rows: ops.squeeze(ops.matmul(rows, energy), -1), hidden)
