"""The base of tasks: from the fields of a request to the outputs of an answer."""

from collections.abc import Callable, Mapping
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any, ClassVar, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from kerasnmt.tasks.served_model import ServedModel


class Steps(NamedTuple):
    """One way to answer a request, in three steps.

    TensorFlow makes the first and the last, Keras the one between.

    Attributes:
        fields: The names of the fields of the request, in order.
        read: A function from the fields, strings `[batch]`, to a structure of arrays for `run`, and
            anything that `write` needs besides.
        run: A function from this structure of arrays to another one, by the model.
        write: A function from both to the outputs by name, `[batch, ...]`.
    """

    fields: tuple[str, ...]
    read: Callable[..., tuple[Any, Any]]
    run: Callable[[Any], Any]
    write: Callable[[Any, Any], dict[str, tf.Tensor]]

    def __call__(self, *fields: tf.Tensor) -> dict[str, tf.Tensor]:
        """Make all steps in one graph, where Keras runs on TensorFlow."""
        given, kept = self.read(*fields)
        return self.write(self.run(given), kept)

    @property
    def signature(self) -> list[tf.TensorSpec]:
        """The tensors that `read` takes."""
        return [tf.TensorSpec([None], tf.string, name=name) for name in self.fields]


class Task(ServedModel):
    """What a model does with requests, a dict of named fields.

    A task turns fields into ids, runs the model, and turns its results into outputs. It runs where
    Keras does: on TensorFlow as one graph, which is also the graph of an export; on JAX the model's
    part is compiled by JAX, and TensorFlow, on the CPU, reads and writes text.

    A subclass lists its `served` steps, which exports have as signatures, and its `unserved` ones.

    Args:
        model: The model.
        applied: A function that wraps the functions of the model which the task calls. An export
            wraps them to run on its stored weights.

    Raises:
        ValueError: If Keras runs on a backend other than TensorFlow and JAX.
    """

    # The name of the task in the description of an export.
    name: ClassVar[str]

    def __init__(
        self, model: keras.Model, applied: Callable[[Callable], Callable] | None = None
    ) -> None:
        need_text_backend()
        self.model = model
        self.applied = applied or (lambda function: function)

    @cached_property
    def served(self) -> dict[str, Steps]:
        """The steps of each signature of an export."""
        raise NotImplementedError

    @cached_property
    def unserved(self) -> dict[str, Steps]:
        """The steps that only Python can ask for."""
        return {}

    @property
    def assets(self) -> Any:
        """What an export has to track beside the weights: tokenizers and tables."""
        raise NotImplementedError

    @cached_property
    def signatures(self) -> Mapping[str, Callable[..., Mapping[str, Any]]]:
        """The compiled functions of all steps, by name."""
        steps = {**self.served, **self.unserved}
        return {name: compiled(name, one, self.model) for name, one in steps.items()}

    def function(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """Return the function of a signature, in the form that is fastest to call many times."""
        function = self.signatures[name]
        if keras.backend.backend() == "jax":
            return function
        # The one concrete function: to look it up in each call takes 0.5 ms of the 10 ms that a
        # sentence takes.
        return function.get_concrete_function()


def need_text_backend() -> None:
    """Check that Keras runs on a backend that takes text.

    Raises:
        ValueError: If it does not.
    """
    if keras.backend.backend() not in ("tensorflow", "jax"):
        raise ValueError(
            "Expected Keras to run on TensorFlow or JAX, for text. Received: "
            f"backend={keras.backend.backend()!r}. Set KERAS_BACKEND=tensorflow, or pass token ids "
            "to model.search or model.attend."
        )


def compiled(name: str, steps: Steps, model: keras.Model) -> Callable[..., Mapping[str, Any]]:
    """Compile steps for the backend of Keras.

    Args:
        name: The name of the function, which an export writes into its graph.
        steps: The steps.
        model: The model that `run` calls.

    Returns:
        A function from the fields by name, lists or tensors of strings `[batch]`, to the outputs by
        name.
    """
    if keras.backend.backend() == "jax":
        return _CompiledByJax(steps, model)

    def function(*values: tf.Tensor, **named: tf.Tensor) -> dict[str, tf.Tensor]:
        fields = {**dict(zip(steps.fields, values, strict=False)), **named}
        return steps(*(fields[name] for name in steps.fields))

    function.__name__ = name
    # The inputs of the graph have the names of the fields.
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in steps.fields]
    function.__signature__ = Signature(parameters)
    return tf.function(function, input_signature=steps.signature, autograph=False)


class _CompiledByJax:
    """Steps whose middle one is compiled by JAX, for arrays of a few shapes."""

    def __init__(self, steps: Steps, model: keras.Model) -> None:
        import jax

        self._fields = steps.fields
        # Functions of their own: TensorFlow counts how often a method is traced.
        self._read = tf.function(
            lambda *fields: steps.read(*fields), input_signature=steps.signature, autograph=False
        )
        self._write = tf.function(
            lambda found, kept: steps.write(found, kept), autograph=False, reduce_retracing=True
        )
        self._model = model

        def run(values: list[Any], given: Any) -> Any:
            state = zip(model.variables, values, strict=True)
            with keras.StatelessScope(state_mapping=list(state)):
                return steps.run(given)

        self._run = jax.jit(run)

    def __call__(self, **fields: Any) -> Mapping[str, Any]:
        texts = [tf.constant(fields[name], tf.string) for name in self._fields]
        given, kept = self._read(*texts)
        rows = len(texts[0])
        values = [variable.value for variable in self._model.variables]
        found = self._run(values, tree.map_structure(_widened, given))
        found = tree.map_structure(lambda one: tf.constant(np.asarray(one)[:rows]), found)
        return self._write(found, kept)


def _widened(tensor: tf.Tensor) -> np.ndarray:
    """Pad the rows, and all axes of ids, to one of a few sizes, for each of which JAX compiles."""
    array = np.asarray(tensor)
    ids = np.issubdtype(array.dtype, np.integer)
    widths = [
        _next_size(size) if ids or not axis else size for axis, size in enumerate(array.shape)
    ]
    return np.pad(
        array, [(0, width - size) for size, width in zip(array.shape, widths, strict=True)]
    )


def _next_size(size: int) -> int:
    """Return the next size of 1, 2, 4, 8, 16, 24, 32, 48, 64, and so on."""
    power = 1 << max(size - 1, 0).bit_length()
    between = power * 3 // 4
    return between if power > 16 and size <= between else power
