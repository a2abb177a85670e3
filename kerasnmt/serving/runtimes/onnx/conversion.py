"""Conversion of functions to ONNX graphs."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from kerasnmt.extras import extras
from kerasnmt.serving.runtimes.onnx.recurrence import PLACEHOLDER, operator_writer

_OPSET = 18


def named(prefix: str, structure: Any) -> dict[str, Any]:
    """Return the tensors of a structure by name, such as `prefix_0`."""
    return {f"{prefix}_{number}": one for number, one in enumerate(tree.flatten(structure))}


def any_size(name: str, tensor: Any, axes: set[int | None]) -> tf.TensorSpec:
    """Return the specification of a tensor in which some axes have any size."""
    shape = [None if axis in axes else size for axis, size in enumerate(tensor.shape)]
    return tf.TensorSpec(shape, tensor.dtype, name=name)


def converted(
    function: Callable[..., dict],
    signature: Sequence[tf.TensorSpec],
    placeholders: keras.Model | None = None,
) -> bytes:
    """Convert a function.

    Args:
        function: Function from tensors to a dict of tensors.
        signature: Specifications of the tensors, with names.
        placeholders: Model in the function whose recurrent layers are placeholders; see
            `with_placeholders`.

    Returns:
        A serialized graph, which has the names of the signature and the dict.
    """
    with extras():
        import tf2onnx
    logging.getLogger("tf2onnx").setLevel(logging.ERROR)
    handlers: dict[str, Any] = {"Log1p": (_log1p, [])}
    if placeholders is not None:
        handlers[PLACEHOLDER] = (operator_writer(placeholders), [])

    def with_names(*values: tf.Tensor) -> dict[str, tf.Tensor]:
        # Without an identity, an output that is also an input or another output loses its name.
        return {name: tf.identity(value) for name, value in function(*values).items()}

    graph, _ = tf2onnx.convert.from_function(
        tf.function(with_names, input_signature=signature, autograph=False),
        input_signature=signature,
        opset=_OPSET,
        custom_op_handlers=handlers,
    )
    return graph.SerializeToString()


def _log1p(context: Any, node: Any, *_: Any) -> None:
    """Write log(1 + x), because tf2onnx 1.17 does not know the op."""
    one = context.make_const(f"{node.name}_one", np.ones((), "float32")).output[0]
    outputs, shapes, dtypes = node.output[:], node.output_shapes, node.output_dtypes
    context.remove_node(node.name)
    total = context.make_node("Add", [node.input[0], one]).output[0]
    context.make_node("Log", [total], outputs=outputs, shapes=shapes, dtypes=dtypes)
