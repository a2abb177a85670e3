"""Recurrent layers as operators of ONNX, which are faster than its loops."""

import copy
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from kerasnmt.config_parts import parts_of_config
from kerasnmt.layers import BackwardLayer, BidirectionalLayer, ForwardLayer, GRUCell, LSTMCell
from kerasnmt.layers.composite import comes_from_elsewhere, layers_within
from kerasnmt.layers.encoders.recurrent_layers import RecurrentLayer

# Operation of TensorFlow that stands for an operator while a graph is traced. It never runs.
PLACEHOLDER = "CudnnRNNV3"
_ENCODERS = ("kerasnmt>RecurrentEncoder", "kerasnmt>ContextEncoder")
_OPERATORS = {GRUCell: "GRU", LSTMCell: "LSTM"}
_DIRECTIONS = {
    ("forward",): "forward",
    ("backward",): "reverse",
    ("forward", "backward"): "bidirectional",
}


class _Placeholder(RecurrentLayer):
    """Recurrent layer that becomes a placeholder, if its cell has an operator."""

    def call(
        self, inputs: Any, source_mask: Any = None, mask: Any = None, training: bool = False
    ) -> tuple[Any, list[list[Any]]]:
        """Read a sequence; see `RecurrentLayer`."""
        operator, count = _OPERATORS.get(type(self.cell)), len(self.loops)
        if operator is None or source_mask is None:
            return super().call(inputs, source_mask, mask, training)
        first = ops.zeros((count, ops.shape(inputs)[0], self.cell.units))
        outputs, *last, _, _ = tf.raw_ops.CudnnRNNV3(
            input=ops.transpose(inputs, (1, 0, 2)),
            input_h=first,
            input_c=first,
            params=ops.zeros((0,)),
            sequence_lengths=ops.sum(ops.cast(source_mask, "int32"), axis=1),
            rnn_mode=operator.lower(),
            direction="bidirectional" if count == 2 else "unidirectional",
            seed=id(self),
            is_training=False,
        )
        last = last[: len(self.cell.state_size)]
        states = [[one[number] for one in last] for number in range(count)]
        return ops.transpose(outputs, (1, 0, 2)), states


@keras.saving.register_keras_serializable("kerasnmt.onnx", "ForwardLayer")
class _Forward(_Placeholder, ForwardLayer):
    pass


@keras.saving.register_keras_serializable("kerasnmt.onnx", "BackwardLayer")
class _Backward(_Placeholder, BackwardLayer):
    pass


@keras.saving.register_keras_serializable("kerasnmt.onnx", "BidirectionalLayer")
class _Bidirectional(_Placeholder, BidirectionalLayer):
    pass


def with_placeholders(model: keras.Model) -> keras.Model:
    """Return a model with the same weights, whose recurrent layers become placeholders.

    An operator needs sequences that are padded on the right, so only layers of the encoders that
    read such sequences become placeholders. A model that cannot be copied is returned itself, and
    keeps its loops: the class of a layer is not registered, or a layer is part of two others.
    """
    inside = (layer for _, layer in layers_within(model))
    if not all(_is_registered(layer) for layer in [model, *inside]):
        return model
    config = copy.deepcopy(keras.saving.serialize_keras_object(model))
    config.pop("compile_config", None)
    for encoder in parts_of_config(config):
        padded_right = encoder.get("registered_name") in _ENCODERS
        for part in parts_of_config(encoder) if padded_right else ():
            name = str(part.get("registered_name")).replace("kerasnmt>", "kerasnmt.onnx>")
            if keras.saving.get_registered_object(name):
                part["registered_name"] = name
    copied = keras.saving.deserialize_keras_object(config)
    weights = model.get_weights()
    if len(copied.weights) != len(weights):
        return model
    copied.set_weights(weights)
    return copied


def _is_registered(layer: keras.layers.Layer) -> bool:
    kind = type(layer)
    registered = keras.saving.get_registered_object(keras.saving.get_registered_name(kind))
    return registered is kind or not comes_from_elsewhere(layer)


def operator_writer(model: keras.Model) -> Callable[..., None]:
    """Return the function with which tf2onnx writes operators in place of placeholders.

    Args:
        model: Result of `with_placeholders`.
    """
    layers = {
        id(layer): (layer, _weights(layer))
        for _, layer in layers_within(model)
        if isinstance(layer, _Placeholder) and type(layer.cell) in _OPERATORS
    }

    def write(context: Any, node: Any, *_: Any) -> None:
        layer, parts = layers[node.get_attr_value("seed")]
        cell, operator = layer.cell, _OPERATORS[type(layer.cell)]
        weights = [
            context.make_const(f"{node.name}_{number}", np.array(values, "float32")).output[0]
            for number, values in enumerate(zip(*parts, strict=True))
        ]
        outputs, shapes, dtypes = node.output[:3], node.output_shapes, node.output_dtypes
        context.remove_node(node.name)
        made = context.make_node(
            operator,
            [node.input[0], *weights, node.input[4]],
            attr={
                "hidden_size": cell.units,
                "direction": _DIRECTIONS[layer.directions],
                **({"linear_before_reset": 1} if operator == "GRU" else {}),
            },
            output_count=1 + len(cell.state_size),
        )
        results = [_joined(context, made.output[0], len(layer.loops)), *made.output[1:]]
        for result, name, shape, dtype in zip(results, outputs, shapes, dtypes, strict=False):
            context.make_node("Identity", [result], outputs=[name], shapes=[shape], dtypes=[dtype])

    return write


def _joined(context: Any, outputs: str, directions: int) -> str:
    """Turn `[length, directions, batch, units]` into `[length, batch, directions * units]`."""
    if directions == 1:  # for a transposition of such an axis, tf2onnx 1.17 writes a wrong shape
        axis = context.make_const(f"{outputs}_axis", np.array([1], "int64"))
        return context.make_node("Squeeze", [outputs, axis.output[0]]).output[0]
    moved = context.make_node("Transpose", [outputs], attr={"perm": [0, 2, 1, 3]})
    shape = context.make_const(f"{outputs}_shape", np.array([0, 0, -1], "int64"))
    return context.make_node("Reshape", [moved.output[0], shape.output[0]]).output[0]


def _weights(layer: RecurrentLayer) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the kernel and the recurrent kernel, `[gates * units, ...]`, and the biases.

    There is one tuple for each direction.
    """
    parts = [
        np.split(weights, len(layer.loops), axis=-1)
        for weights in layer.input_projection.get_weights()
    ]
    weights = []
    for loop, kernel, bias in zip(layer.loops, *parts, strict=True):
        recurrent_kernel, *recurrent_bias = loop.cell.get_weights()
        order = np.arange(len(bias))  # z, r, h
        if isinstance(loop.cell, LSTMCell):  # from i, f, g, o to i, o, f, g
            order = order.reshape(4, -1)[[0, 3, 1, 2]].ravel()
            recurrent_bias = [np.repeat([0, 1, 0, 0], loop.cell.units)]  # for the forget gate
        biases = np.concatenate([bias[order], recurrent_bias[0][order]])
        weights.append((kernel.T[order], recurrent_kernel.T[order], biases))
    return weights
