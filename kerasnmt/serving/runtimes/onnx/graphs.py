"""Models as ONNX graphs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from keras import ops, tree

from kerasnmt.serving.runtimes.onnx.conversion import any_size, converted, named
from kerasnmt.serving.runtimes.onnx.recurrence import with_placeholders


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


def make_graphs(
    model: keras.Model, inputs: Mapping[str, keras.KerasTensor], max_length: int
) -> Graphs:
    """Convert `encode` and `step` of a model.

    Args:
        model: A `kerasnmt.models.SearchModel` on TensorFlow.
        inputs: Inputs of the source as symbolic tensors, by name.
        max_length: Maximum number of steps.

    Returns:
        The graphs.

    Raises:
        ValueError: If the model has fewer learned positions than steps.
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
        return {**named("state", states), **named("memory", memory), "source_mask": mask}

    traced = tf.function(encoded, autograph=False)
    (state, memory), (longer, _) = (
        traced.get_concrete_function(steps, *signature).structured_outputs
        for steps in (1, max(2, max_length))
    )
    states, parts = named("state", state), named("memory", memory)
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
        return outputs | {f"new_{name}": one for name, one in named("state", following).items()}

    step_signature = [
        tf.TensorSpec([None, None], tf.int32, name="ids"),
        *(any_size(name, one, {0, 1, axes[name]}) for name, one in states.items()),
        *(any_size(name, one, {0}) for name, one in parts.items()),
    ]
    graphs = converted(encode, signature, reading), converted(step, step_signature)
    return Graphs(*graphs, axes, [*parts], records)


def make_answer_graph(model: keras.Model) -> bytes:
    """Convert a memory network.

    Args:
        model: A `kerasnmt.models.MemoryNetwork` on TensorFlow.

    Returns:
        Graph from `story_ids`, int32 `[batch, sentences, words]`, and `question_ids`, int32
        `[batch, words]`, to `log_probabilities`, float32 `[batch, vocabulary]`, and `weights`,
        float32 `[batch, hops, sentences]`.
    """

    def answer(story_ids: tf.Tensor, question_ids: tf.Tensor) -> dict[str, tf.Tensor]:
        inputs = {"story_ids": story_ids, "question_ids": question_ids}
        log_probabilities, weights = model.inspect(inputs)
        return {"log_probabilities": log_probabilities, "weights": weights}

    signature = [
        tf.TensorSpec([None, None, None], tf.int32, name="story_ids"),
        tf.TensorSpec([None, None], tf.int32, name="question_ids"),
    ]
    return converted(answer, signature)
