"""Tasks on JAX, which compiles the model; TensorFlow reads and writes text on the CPU."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from kerasnmt.tasks.steps import Steps


def compiled_by_jax(function: Callable[..., Any], model: keras.Model) -> Callable[..., Any]:
    """Compile a function of a model, once for each shape of its arguments.

    Args:
        function: Function of structures of arrays, which reads the variables of the model.
        model: Model. Its variables may change between two calls.

    Returns:
        A function that takes structures of arrays, or of TensorFlow tensors, and returns JAX
        arrays.
    """
    import jax

    @jax.jit
    def run(values: list[Any], arguments: tuple[Any, ...]) -> Any:
        state = zip(model.variables, values, strict=True)
        with keras.StatelessScope(state_mapping=list(state)):
            return function(*arguments)

    def call(*arguments: Any) -> Any:
        values = [variable.value for variable in model.variables]
        return run(values, tree.map_structure(np.asarray, arguments))

    return call


class StepsOnJax:
    """Steps of a task on JAX, which compiles `run` for a few shapes of its arrays.

    Args:
        steps: Steps of the task.
        model: Model that `run` calls.
    """

    def __init__(self, steps: Steps, model: keras.Model) -> None:
        self._specs = steps.signature
        # These are separate functions, because TensorFlow counts how often a method is traced.
        self._read = tf.function(
            lambda *fields: steps.read(*fields), input_signature=steps.signature, autograph=False
        )
        self._run = compiled_by_jax(steps.run, model)
        self._write = tf.function(
            lambda outputs, kept: steps.write(outputs, kept), autograph=False, reduce_retracing=True
        )

    def __call__(self, **fields: Any) -> Mapping[str, Any]:
        """Return a dict of the outputs, for fields that are lists, or tensors."""
        values = [tf.constant(fields[spec.name], spec.dtype) for spec in self._specs]
        batch, kept = self._read(*values)
        rows = len(tree.flatten(batch)[0])  # with sentences as rows, more than there are texts
        outputs = self._run(tree.map_structure(widened, batch))
        outputs = tree.map_structure(lambda one: tf.constant(np.asarray(one)[:rows]), outputs)
        return self._write(outputs, kept)


def widened(tensor: tf.Tensor) -> np.ndarray:
    """Pad the rows, and all axes of ids, to a few sizes, because JAX compiles for each size."""
    array = np.asarray(tensor)
    ids = np.issubdtype(array.dtype, np.integer)
    widths = [
        _next_size(size) if ids or not axis else size for axis, size in enumerate(array.shape)
    ]
    return np.pad(
        array, [(0, width - size) for size, width in zip(array.shape, widths, strict=True)]
    )


def _next_size(size: int) -> int:
    """Return the smallest of 1, 2, 4, 8, 16, 24, 32, 48, 64, … that is at least `size`."""
    power = 1 << max(size - 1, 0).bit_length()
    between = power * 3 // 4
    return between if power > 16 and size <= between else power
