"""A model's weights in the numbers that an export stores."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf


class StoredWeights(tf.Module):
    """A model's weights as they are stored, and the model's functions on them.

    Only matrices are stored smaller; vectors, such as biases, stay the model's own variables.
    Stored values are those of the time when this was made, and functions compute in the model's own
    precision: they are made float32 once a call, before any loops.

    - `float32`: the model's own variables.
    - `float16`: half the size.
    - `int8`: a quarter of the size. A value is a whole number from -127 to 127 times a float32
      scale. Each row of a matrix has a scale, or each column, whichever loses less.

    Args:
        model: any model of Keras.
        kind: "float32", "float16" or "int8".

    Raises:
        ValueError: the kind is another, or a weight is too large for float16.
    """

    def __init__(self, model: keras.Model, kind: str = "float32") -> None:
        super().__init__(name="weights")
        if kind not in _KINDS:
            raise ValueError(
                f"Expected weights to be one of {', '.join(_KINDS)}. Received: weights={kind!r}"
            )
        self.kind = kind
        self._stored = [_storage(weight, kind) for weight in model.weights]
        # Only TensorFlow's own variables are tracked, not the model: its optimizer stays out. A
        # closure, because a `tf.Module` would track the Keras variables of an attribute.
        weights, stored = model.weights, self._stored
        self._values = lambda: [(w, value()) for w, value in zip(weights, stored, strict=True)]

    def applied(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the model, such as its search, that runs on the stored weights."""

        def on_stored(*arguments: Any, **options) -> Any:
            with keras.StatelessScope(state_mapping=self._values()):
                return function(*arguments, **options)

        return on_stored


def _storage(weight: keras.Variable, kind: str) -> tf.Module:
    is_matrix = sum(size > 1 for size in weight.shape) > 1
    return (_KINDS[kind] if is_matrix else _Own)(weight)


class _Own(tf.Module):
    """A variable of the model."""

    def __init__(self, weight: keras.Variable) -> None:
        super().__init__()
        self.variable = weight.value

    def __call__(self) -> tf.Tensor:
        return tf.convert_to_tensor(self.variable)


class _Float16(tf.Module):
    def __init__(self, weight: keras.Variable) -> None:
        super().__init__()
        values = keras.ops.convert_to_numpy(weight)
        most = np.finfo("float16").max
        if np.abs(values).max() > most:
            raise ValueError(
                f"Expected weights of at most {most:,.0f}, for float16. Received: {weight.path} "
                f"with {np.abs(values).max():,.0f}. Export with weights='float32'."
            )
        self.half = tf.Variable(values.astype("float16"), trainable=False)

    def __call__(self) -> tf.Tensor:
        return tf.cast(self.half, tf.float32)


class _Int8(tf.Module):
    def __init__(self, weight: keras.Variable) -> None:
        super().__init__()
        values = keras.ops.convert_to_numpy(weight)
        first, last = 0, values.ndim - 1
        quantized = [_quantized(values, kept) for kept in (last, first)]
        whole, scales = min(quantized, key=lambda pair: np.square(pair[0] * pair[1] - values).sum())
        self.whole = tf.Variable(whole, trainable=False)
        self.scales = tf.Variable(scales, trainable=False)

    def __call__(self) -> tf.Tensor:
        return tf.cast(self.whole, tf.float32) * self.scales


def _quantized(values: np.ndarray, kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers, int8, and their scales, float32, one for each place on the axis `kept`."""
    others = tuple(axis for axis in range(values.ndim) if axis != kept)
    scales = np.abs(values).max(axis=others, keepdims=True) / 127
    scales = np.where(scales == 0, 1, scales).astype("float32")
    return np.round(values / scales).astype("int8"), scales


_KINDS = {"float32": _Own, "float16": _Float16, "int8": _Int8}
