"""The encoder and the step of a model as ONNX graphs."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import ops, tree

from kerasnmt.extras import extras
from kerasnmt.serving.runtimes.onnx.recurrence import (
    PLACEHOLDER,
    operator_writer,
    with_placeholders,
)

_OPSET = 18


class Graphs(NamedTuple):
    """Graphs of a model, and the names of their inputs and outputs.

    Attributes:
        encoder: Graph from the inputs of the source to the states, `[batch, 1, ...]`, the memory,
            `[batch, ...]`, and `source_mask`, `[batch, source_length]`.
        step: Graph from `ids`, int32 `[batch, hypotheses]`, the states and the memory to
            `log_probabilities`, the records and the new states, whose names begin with `new_`.
        states: Names of the states. The value is the axis of time of a cache of earlier steps,
            which has room for one step, or None for other states. Each step needs one more.
        memory: Names of the parts of the memory.
        records: Names of the records.
    """

    encoder: bytes
    step: bytes
    states: dict[str, int | None]
    memory: list[str]
    records: list[str]


def make_graphs(model: keras.Model, inputs: Mapping[str, keras.KerasTensor]) -> Graphs:
    """Convert `encode` and `step` of a model.

    Args:
        model: A `kerasnmt.models.SearchModel` on TensorFlow.
        inputs: Inputs of the source as symbolic tensors, by name.
    """
    signature = [tf.TensorSpec(one.shape, one.dtype, name=name) for name, one in inputs.items()]
    reading = with_placeholders(model)

    def encoded(steps: int, *source: tf.Tensor) -> tuple[Any, Any]:
        encoded = reading.encode(dict(zip(inputs, source, strict=True)), steps=steps)
        states, memory = tree.map_structure(tf.convert_to_tensor, encoded)
        return tree.map_structure(lambda state: ops.expand_dims(state, 1), states), memory

    def encode(*source: tf.Tensor) -> dict[str, tf.Tensor]:
        states, memory = encoded(1, *source)
        mask = model.memory_mask(memory)
        return {**_named("state", states), **_named("memory", memory), "source_mask": mask}

    (state, memory), (longer, _) = (
        tf.function(encoded).get_concrete_function(steps, *signature).structured_outputs
        for steps in (1, 2)
    )
    states, parts = _named("state", state), _named("memory", memory)
    axes = {
        name: next((i for i, size in enumerate(one.shape) if size != other.shape[i]), None)
        for (name, one), other in zip(states.items(), tree.flatten(longer), strict=True)
    }
    records: list[str] = []

    def step(ids: tf.Tensor, *values: tf.Tensor) -> dict[str, tf.Tensor]:
        log_probabilities, recorded, following = model.step(
            ids,
            tree.pack_sequence_as(state, list(values[: len(states)])),
            tree.pack_sequence_as(memory, list(values[len(states) :])),
        )
        records[:] = [*recorded]
        outputs = {"log_probabilities": log_probabilities, **recorded}
        return outputs | {f"new_{name}": one for name, one in _named("state", following).items()}

    step_signature = [
        tf.TensorSpec([None, None], tf.int32, name="ids"),
        *(_any_size(name, one, {0, 1, axes[name]}) for name, one in states.items()),
        *(_any_size(name, one, {0}) for name, one in parts.items()),
    ]
    operators: dict[str, Any] = {PLACEHOLDER: (operator_writer(reading), [])}
    graphs = _converted(encode, signature, operators), _converted(step, step_signature, {})
    return Graphs(*graphs, axes, [*parts], records)


def _named(prefix: str, structure: Any) -> dict[str, Any]:
    """Return the tensors of a structure by name, such as `prefix_0`."""
    return {f"{prefix}_{number}": one for number, one in enumerate(tree.flatten(structure))}


def _any_size(name: str, tensor: Any, axes: set[int | None]) -> tf.TensorSpec:
    """Return the specification of a tensor in which some axes have any size."""
    shape = [None if axis in axes else size for axis, size in enumerate(tensor.shape)]
    return tf.TensorSpec(shape, tensor.dtype, name=name)


def _converted(
    function: Callable[..., dict], signature: Sequence[tf.TensorSpec], operators: Mapping[str, Any]
) -> bytes:
    with extras():
        import tf2onnx
    logging.getLogger("tf2onnx").setLevel(logging.ERROR)

    def named(*values: tf.Tensor) -> dict[str, tf.Tensor]:
        # Without an identity, an output that is also an input or another output loses its name.
        return {name: tf.identity(value) for name, value in function(*values).items()}

    graph, _ = tf2onnx.convert.from_function(
        tf.function(named, input_signature=signature, autograph=False),
        input_signature=signature,
        opset=_OPSET,
        custom_op_handlers={"Log1p": (_log1p, []), **operators},
    )
    return graph.SerializeToString()


def _log1p(context: Any, node: Any, *_: Any) -> None:
    """Write log(1 + x), because tf2onnx 1.17 does not know the op."""
    one = context.make_const(f"{node.name}_one", np.ones((), "float32")).output[0]
    outputs, shapes, dtypes = node.output[:], node.output_shapes, node.output_dtypes
    context.remove_node(node.name)
    total = context.make_node("Add", [node.input[0], one]).output[0]
    context.make_node("Log", [total], outputs=outputs, shapes=shapes, dtypes=dtypes)
