"""Search of a task for one request, one step at a time."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from kerasnmt.decoding import Hypotheses, StepOutputs
from kerasnmt.tasks.on_jax import compiled_by_jax, widened
from kerasnmt.tasks.served_model import Progress
from kerasnmt.tasks.steps import Steps
from kerasnmt.tasks.streaming import as_text_step, settled_words
from kerasnmt.text.without_tensorflow import plain_form
from kerasnmt.time_cache import TimeCache


class SearchStream:
    """Search of a task for one request, one step at a time.

    On TensorFlow, the first step and the others are two graphs; on JAX, it compiles both.

    Args:
        task: A `SearchTask`.
        steps: Steps whose `read` the stream uses.
    """

    def __init__(self, task: Any, steps: Steps) -> None:
        self._task, self._steps = task, steps
        self._tokenizer = plain_form(task.model.target_tokenizer)
        self._compiling = threading.Lock()

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Yield the progress of an answer; see `ServedModel`."""
        with self._compiling:
            begin, advance = self._functions
        fields = (tf.constant([request[name]]) for name in self._steps.fields)
        now, outputs, source = begin(*fields)
        if self._task._is_empty(source).numpy()[0]:
            yield Progress("", "", 0.0)
            return
        words = self._task.copied_words(source)

        def steps() -> Iterator[Any]:
            state, told = now, outputs
            while True:
                step = as_text_step(told._replace(ids=self._written(told, source)))
                yield step
                if not step.unfinished:
                    return
                state, told = advance(state)

        def decode(hypotheses: list[list[int]]) -> list[str]:
            return self._tokenizer.decode(hypotheses, [words] * len(hypotheses))

        yield from settled_words(steps(), decode, self._tokenizer.kind)

    def _written(self, told: StepOutputs, source: Any) -> Any:
        """Return the ids of a step as they are written, int32 `[1, hypotheses]`."""
        if not self._task.writes_by_records:
            return told.ids
        ids, records = tree.map_structure(
            lambda one: np.asarray(one)[:, :, None], (told.ids, told.records)
        )
        return self._task._ids(Hypotheses(ids, None, records), source)[:, :, 0]

    @cached_property
    def _functions(self) -> tuple[Callable[..., Any], Callable[[Any], Any]]:
        """The first step, and the others.

        The first turns the fields into the state of the search, the outputs of the step, and the
        source. The others turn the state into the next one and the outputs.
        """
        task, signature = self._task, self._steps.signature
        first, further = task.model.search_steps(
            with_records=task.writes_by_records, **asdict(task.options)
        )

        def run(batch: dict[str, Any]) -> tuple[Any, StepOutputs]:
            return first(batch["inputs"], batch.get("prefix_ids"), batch.get("listed_ids"))

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

            return begin, compiled_by_jax(further, task.model)

        def read_and_run(*fields: tf.Tensor) -> tuple[Any, StepOutputs, Any]:
            batch, source = self._steps.read(*fields)
            return (*task.applied(run)(batch), source)

        reading = tf.function(read_and_run, input_signature=signature, autograph=False)
        traced = reading.get_concrete_function()
        state, _, _ = traced.structured_outputs
        specs = tree.map_structure(_spec, tree.traverse(_of_any_room, state))
        advance = tf.function(
            lambda state: task.applied(further)(state), input_signature=[specs], autograph=False
        )
        return traced, advance.get_concrete_function()


def _of_any_room(part: Any) -> Any:
    """Return the specifications of a cache whose room can change, or None for other parts."""
    if not isinstance(part, TimeCache):
        return None
    values = tree.map_structure(lambda one: _spec(one, -2), part.values)
    return TimeCache(values, _spec(part.written, -1))


def _spec(tensor: Any, open_axis: int | None = None) -> tf.TensorSpec:
    shape = tensor.shape.as_list()
    if open_axis is not None:
        shape[open_axis] = None
    return tf.TensorSpec(shape, tensor.dtype)
