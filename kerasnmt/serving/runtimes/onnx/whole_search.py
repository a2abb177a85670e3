"""A model with its beam search as one ONNX graph."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf
from keras import ops, tree

from kerasnmt.decoding import SearchOptions
from kerasnmt.decoding.beam_search import Beam
from kerasnmt.decoding.buffers import clear, reorder
from kerasnmt.decoding.constraints import IMPOSSIBLE, constrained
from kerasnmt.extras import extras
from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.serving.runtimes.onnx.conversion import any_size, converted, named
from kerasnmt.serving.runtimes.onnx.recurrence import with_placeholders

# Parts of the state whose axis 2 grows by 1 in each step. Their first step is empty.
_GROWING = ("sequences", "weights")
# Prefixes of the names of the values before, in and after the loop.
_FIRST, _NEXT, _LAST = "first_", "next_", "last_"


def make_search(
    model: keras.Model, inputs: Mapping[str, keras.KerasTensor], options: SearchOptions
) -> bytes:
    """Convert a model with its beam search.

    The search is a `Loop` of ONNX. Its sequences grow by one token at each step, so the loop does
    not carry buffers for the maximum length.

    Args:
        model: A `kerasnmt.models.SearchModel` on TensorFlow.
        inputs: Inputs of the source as symbolic tensors, by name.
        options: Options of the search, without samples.

    Returns:
        Graph from the inputs to `ids`, int32 `[batch, beam_size, length]`, padded with 0; `scores`,
        float32 `[batch, beam_size]`, best first; and, if the model has attention, `weights`,
        float32 `[batch, beam_size, length, source_length]`.
    """
    signature = [tf.TensorSpec(one.shape, one.dtype, name=name) for name, one in inputs.items()]
    reading = with_placeholders(model)
    search = _Search(reading, options)

    def first(*source: tf.Tensor) -> tuple[Any, Any]:
        return search.first(dict(zip(inputs, source, strict=True)))

    traced = tf.function(first, autograph=False).get_concrete_function(*signature)
    now, constants = traced.structured_outputs
    carried, read = named("now", now), named("constant", constants)
    growing = {id(one) for name, one in now.items() if name in _GROWING}

    def specification(prefix: str) -> list[tf.TensorSpec]:
        return [
            *(
                any_size(f"{prefix}{name}", one, {0, 2} if id(one) in growing else {0})
                for name, one in carried.items()
            ),
            *(any_size(name, one, {0}) for name, one in read.items()),
        ]

    def structured(values: Sequence[tf.Tensor]) -> tuple[Any, Any]:
        changing, others = list(values[: len(carried)]), list(values[len(carried) :])
        return tree.pack_sequence_as(now, changing), tree.pack_sequence_as(constants, others)

    def outputs(prefix: str, now: Any, constants: Any) -> dict[str, tf.Tensor]:
        values = dict(zip(carried, tree.flatten(now), strict=True))
        values["goes_on"] = ops.any(search.unfinished(now, constants))
        return {f"{prefix}{name}": one for name, one in values.items()}

    def begin(*source: tf.Tensor) -> dict[str, tf.Tensor]:
        now, constants = first(*source)
        return outputs(_FIRST, now, constants) | named("constant", constants)

    def advance(*values: tf.Tensor) -> dict[str, tf.Tensor]:
        now, constants = structured(values)
        return outputs(_NEXT, search.advance(now, constants), constants)

    def end(*values: tf.Tensor) -> dict[str, tf.Tensor]:
        return search.results(*structured(values))

    return _joined(
        converted(begin, signature, reading),
        converted(advance, specification("")),
        converted(end, specification(_LAST)),
        [*carried],
    )


class _Search:
    """Beam search whose sequences grow.

    Args:
        model: A `kerasnmt.models.SearchModel`.
        options: Options of the search, without samples.
    """

    def __init__(self, model: Any, options: SearchOptions) -> None:
        self._model, self._options = model, options
        step, _, _ = self._constrained((), (), 0)
        size, records = options.beam_size, model.has_attention
        self._beam = Beam(step, options, END_ID, PAD_ID, size, records, with_tree=False)

    def _constrained(self, states: Any, memory: Any, batch: Any) -> tuple[Any, Any, Any]:
        return constrained(
            self._model.step,
            states,
            memory,
            batch,
            self._options,
            end_id=END_ID,
            pad_id=PAD_ID,
            never_ids=self._options.never_ids(self._model.copies),
        )

    def first(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the loop changes, and what it only reads."""
        size = self._options.beam_size
        states, memory = self._model.encode(inputs, steps=self._options.max_length)
        mask = self._model.memory_mask(memory)
        batch, length = ops.shape(mask)[:2]
        _, states, memory = self._constrained(states, memory, batch)
        ids = ops.full((batch, size), START_ID, dtype="int32")
        # Only the first of the equal hypotheses can be extended.
        scores = ops.where(ops.arange(size) == 0, 0.0, IMPOSSIBLE)
        now = {
            "ids": ids,
            "scores": ops.zeros((batch, 1)) + scores,
            "ended": ids == PAD_ID,
            "lengths": ops.zeros_like(ids),
            "states": tree.map_structure(
                lambda state: ops.repeat(ops.expand_dims(state, 1), size, axis=1), states
            ),
            "sequences": ids[:, :, None],
        }
        if self._model.has_attention:
            now["weights"] = ops.zeros((batch, size, 1, length))
        if self._beam.covers:
            now["attended"] = ops.zeros((batch, size, length))
        lengths = self._options.max_lengths(ops.sum(ops.cast(mask, "int32"), axis=1))
        return now, {"memory": memory, "max_lengths": lengths[:, None], "positions": mask}

    def advance(self, now: dict[str, Any], constants: dict[str, Any]) -> dict[str, Any]:
        """Compute one step."""
        following, (ids, parents, records, _) = self._beam.extend(_whole(now, constants))
        following["sequences"] = _longer(now["sequences"], parents, ids)
        if "weights" in now:
            following["weights"] = _longer(now["weights"], parents, records["weights"])
        return {name: following[name] for name in now}

    def unfinished(self, now: dict[str, Any], constants: dict[str, Any]) -> Any:
        """Return whether each row needs another step, boolean `[batch]`."""
        return self._beam.unfinished(_whole(now, constants))

    def results(self, now: dict[str, Any], constants: dict[str, Any]) -> dict[str, Any]:
        """Return the sequences, their scores and their attention weights, best first."""
        ranks, best = ops.top_k(self._beam.ranks(_whole(now, constants)), self._beam.n_best)
        results = {"ids": now["sequences"][:, :, 1:]}
        if "weights" in now:
            results["weights"] = now["weights"][:, :, 1:]
        results = reorder(results, ops.cast(best, "int32"))
        return {"scores": ranks, **clear(results, ranks == IMPOSSIBLE)}


def _whole(now: dict[str, Any], constants: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the search as `Beam` knows it."""
    return {**now, **constants, "time": ops.shape(now["sequences"])[2] - 1}


def _longer(values: tf.Tensor, parents: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    """Append the values of a step, `[batch, hypotheses, ...]`, to those of the parents."""
    return ops.concatenate([reorder(values, parents), ops.expand_dims(new, 2)], axis=2)


def _joined(begin: bytes, advance: bytes, end: bytes, carried: Sequence[str]) -> bytes:
    """Join what precedes a loop, a step of the loop, and what follows it.

    Args:
        begin: Graph to the first values and to constants.
        advance: Graph from the values and the constants to the next values.
        end: Graph from the last values and the constants to the results.
        carried: Names of the values.
    """
    with extras():
        import onnx
    models = [onnx.load_from_string(graph) for graph in (begin, advance, end)]
    for prefix, model in zip(("begin/", "advance/", "end/"), models, strict=True):
        onnx.compose.add_prefix(
            model, prefix, rename_inputs=False, rename_outputs=False, inplace=True
        )
    whole, step, last = (model.graph for model in models)
    # The step reads the constants from the graph around it.
    inputs = {one.name: one for one in step.input}
    outputs = {one.name: one for one in step.output}
    make = onnx.helper
    body = make.make_graph(
        step.node,
        "advance",
        [
            make.make_tensor_value_info("iteration", onnx.TensorProto.INT64, []),
            make.make_tensor_value_info("goes_on", onnx.TensorProto.BOOL, []),
            *(inputs[name] for name in carried),
        ],
        [outputs[f"{_NEXT}{name}"] for name in ("goes_on", *carried)],
        step.initializer,
    )
    loop = make.make_node(
        "Loop",
        ["", *(f"{_FIRST}{name}" for name in ("goes_on", *carried))],
        [f"{_LAST}{name}" for name in carried],
        body=body,
    )
    whole.node.extend([loop, *last.node])
    whole.initializer.extend(last.initializer)
    del whole.output[:]
    whole.output.extend(last.output)
    return models[0].SerializeToString()
