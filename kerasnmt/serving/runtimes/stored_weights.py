"""Weights of a model in the number format of its export."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.small_weights import as_float16, as_int8, check_weights, is_matrix


class StoredWeights(tf.Module):
    """Weights of a model in a number format, and the model's functions with these weights.

    These are the formats:

    - `float32`: The variables of the model.
    - `float16`: Half the size.
    - `int8`: A quarter of the size. A value is an integer from -127 to 127 times a float32 scale.
      Each row of a matrix has a scale, or each column, whichever loses less.

    In float16 and int8, only matrices are converted. The stored values are copies from the time
    when this object is created. Vectors, such as biases, are the variables of the model. Functions
    compute in the precision of the model: each call converts the values to float32 once, before any
    loops.

    Args:
        model: A Keras model.
        kind: Number format, "float32", "float16" or "int8".

    Raises:
        ValueError: If the kind is unknown, or a weight is too large for float16.
    """

    def __init__(self, model: keras.Model, kind: str = "float32") -> None:
        super().__init__(name="weights")
        check_weights(kind, _KINDS)
        self.kind = kind
        self._stored = [_storage(weight, kind) for weight in model.weights]
        # Only variables of TensorFlow are tracked, not the model, so its optimizer is not exported.
        # This is a closure, because a `tf.Module` would track Keras variables in an attribute.
        weights, stored = model.weights, self._stored
        self._values = lambda: [(w, value()) for w, value in zip(weights, stored, strict=True)]

    def applied(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls a function, such as `model.search`, with these weights."""

        def on_stored(*arguments: Any, **options) -> Any:
            with keras.StatelessScope(state_mapping=self._values()):
                return function(*arguments, **options)

        return on_stored


def _storage(weight: keras.Variable, kind: str) -> tf.Module:
    return (_KINDS[kind] if is_matrix(weight.shape) else _Own)(weight)


class _Own(tf.Module):
    """Variable of the model."""

    def __init__(self, weight: keras.Variable) -> None:
        super().__init__()
        self.variable = weight.value

    def __call__(self) -> tf.Tensor:
        return tf.convert_to_tensor(self.variable)


class _Float16(tf.Module):
    def __init__(self, weight: keras.Variable) -> None:
        super().__init__()
        values = keras.ops.convert_to_numpy(weight)
        half = as_float16(values, weight.path, "Export with weights='float32'.")
        self.half = tf.Variable(half, trainable=False)

    def __call__(self) -> tf.Tensor:
        return tf.cast(self.half, tf.float32)


class _Int8(tf.Module):
    def __init__(self, weight: keras.Variable) -> None:
        super().__init__()
        values = keras.ops.convert_to_numpy(weight)
        quantized, scales = as_int8(values, weight.path)
        self.quantized = tf.Variable(quantized, trainable=False)
        self.scales = tf.Variable(scales, trainable=False)

    def __call__(self) -> tf.Tensor:
        return tf.cast(self.quantized, tf.float32) * self.scales


_KINDS = {"float32": _Own, "float16": _Float16, "int8": _Int8}
