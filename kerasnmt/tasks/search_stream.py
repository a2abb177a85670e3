"""Search of a task for one request, one step at a time."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from kerasnmt.decoding import Hypotheses, StepOutputs
from kerasnmt.tasks.on_jax import compiled_by_jax, widened
from kerasnmt.tasks.served_model import Progress
from kerasnmt.tasks.steps import Steps
from kerasnmt.tasks.streaming import as_hypotheses, settled_words


class _Functions(NamedTuple):
    """Compiled functions of a stream.

    Attributes:
        begin: From the fields, `[1]` each, to the state of the search, the outputs of the first
            step, and the source.
        advance: From the state to the next state and the outputs of the step.
        decode: From ids, int32 `[1, hypotheses, length]`, and the source to texts.
    """

    begin: Callable[..., tuple[Any, StepOutputs, Any]]
    advance: Callable[[Any], tuple[Any, StepOutputs]]
    decode: Callable[[Any, Any], tf.Tensor]


class SearchStream:
    """Search of a task for one request, one step at a time.

    On TensorFlow, the first step and the others are two graphs; on JAX, it compiles both.

    Args:
        task: A `SearchTask`.
        steps: Steps whose `read` the stream uses.
    """

    def __init__(self, task: Any, steps: Steps) -> None:
        self._task, self._steps = task, steps
        self._compiling = threading.Lock()

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Yield the progress of an answer; see `ServedModel`."""
        with self._compiling:
            begin, advance, decode = self._functions
        fields = (tf.constant([request[name]]) for name in self._steps.fields)
        now, outputs, source = begin(*fields)
        if self._task._is_empty(source).numpy()[0]:
            yield Progress("", "", 0.0)
            return
        length, kind = self._task.options.max_length, self._task.model.target_tokenizer.kind

        def steps() -> Iterator[Any]:
            state, told = now, outputs
            while True:
                step = as_hypotheses(told._replace(ids=self._written(told, source)))
                yield step
                if not step.unfinished:
                    return
                state, told = advance(state)

        def texts(hypotheses: list[list[int]]) -> list[str]:
            size = self._task.options.hypotheses
            padded = [[*ids, *[0] * (length - len(ids))] for ids in hypotheses]
            padded += [[0] * length] * (size - len(hypotheses))
            decoded = decode(tf.constant([padded], tf.int32), source).numpy()[0]
            return [one.decode("utf-8", "replace") for one in decoded[: len(hypotheses)]]

        yield from settled_words(steps(), texts, kind)

    def _written(self, told: StepOutputs, source: Any) -> Any:
        """Return the ids of a step as they are written, int32 `[1, hypotheses]`."""
        if not self._task.writes_by_records:
            return told.ids
        ids, records = tree.map_structure(
            lambda one: np.asarray(one)[:, :, None], (told.ids, told.records)
        )
        return self._task._ids(Hypotheses(ids, None, records), source)[:, :, 0]

    @cached_property
    def _functions(self) -> _Functions:
        task, signature = self._task, self._steps.signature
        decode = tf.function(
            lambda ids, source: task._texts(ids, source), autograph=False, reduce_retracing=True
        )
        first, further = task.model.search_steps(
            with_records=task.writes_by_records, **asdict(task.options)
        )

        def run(batch: dict[str, Any]) -> tuple[Any, StepOutputs]:
            return first(batch["inputs"], batch.get("prefix_ids"))

        if keras.backend.backend() == "jax":
            read = tf.function(
                lambda *fields: self._steps.read(*fields),
                input_signature=signature,
                autograph=False,
            )
            run_first = compiled_by_jax(run, task.model)

            def begin(*fields: tf.Tensor) -> tuple[Any, StepOutputs, Any]:
                batch, source = read(*fields)
                return (*run_first(tree.map_structure(widened, batch)), source)

            return _Functions(begin, compiled_by_jax(further, task.model), decode)

        def read_and_run(*fields: tf.Tensor) -> tuple[Any, StepOutputs, Any]:
            batch, source = self._steps.read(*fields)
            return (*task.applied(run)(batch), source)

        begin = tf.function(read_and_run, input_signature=signature, autograph=False)
        state, _, _ = begin.get_concrete_function().structured_outputs
        specs = tree.map_structure(lambda one: tf.TensorSpec(one.shape, one.dtype), state)
        advance = tf.function(
            lambda state: task.applied(further)(state), input_signature=[specs], autograph=False
        )
        return _Functions(begin, advance, decode)
