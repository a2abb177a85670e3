"""Base class of tasks."""

from collections.abc import Callable, Mapping
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.backends import need_text_backend
from kerasnmt.kinds import kind_of
from kerasnmt.models import TextModel
from kerasnmt.tasks.on_jax import StepsOnJax
from kerasnmt.tasks.served_model import ServedModel
from kerasnmt.tasks.steps import Steps


class Task(ServedModel):
    """Base class of tasks, which turn requests into answers.

    A request is a dict of named fields. A task turns the fields into ids, runs the model, and turns
    the results into outputs. On TensorFlow, a task is one graph, which is also the graph of an
    export. On JAX, JAX compiles the model, and TensorFlow reads and writes text on the CPU.

    A subclass has the names of its `fields`, its `exported` steps, which become the signatures of
    an export, and its `local` steps, which an export does not contain.

    Args:
        model: A model of `kerasnmt.models` with tokenizers.
        applied: Function that wraps the functions of the model that the task calls, or None to use
            the model's own weights. An export uses it to run on stored weights.

    Raises:
        ValueError: If the model has no tokenizers, or the Keras backend is not TensorFlow or JAX.
    """

    fields: tuple[str, ...]

    def __init__(
        self, model: keras.Model, applied: Callable[[Callable], Callable] | None = None
    ) -> None:
        need_text_backend()
        if model.target_tokenizer is None:
            raise ValueError(
                f"Expected a model with tokenizers for text. Received: {model.name}, which was "
                "created with vocabulary sizes. Create it with tokenizers, or pass arrays to its "
                "other methods."
            )
        self.model = model
        self.applied = applied or _on_own_weights(model)

    @cached_property
    def exported(self) -> dict[str, Steps]:
        """Steps of each signature of an export, by name."""
        raise NotImplementedError

    @cached_property
    def local(self) -> dict[str, Steps]:
        """Steps that run only in this process, because an export does not contain them."""
        return {}

    @property
    def assets(self) -> Any:
        """Tokenizers and tables that an export must track."""
        raise NotImplementedError

    @cached_property
    def signatures(self) -> Mapping[str, Callable[..., Mapping[str, Any]]]:
        """Compiled functions of all steps, by name."""
        steps = {**self.exported, **self.local}
        return {name: compiled(name, one, self.model) for name, one in steps.items()}

    def function(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """Return the function of a signature, in the form that is fastest to call many times."""
        function: Any = self.signatures[name]
        if keras.backend.backend() == "jax":
            return function
        # There is one concrete function. Looking it up in each call would take 0.5 ms of the 10 ms
        # for a sentence.
        return function.get_concrete_function()


def task_of(model: keras.Model, **options: Any) -> Task:
    """Return the task of a model.

    Args:
        model: A model of `kerasnmt.models` with tokenizers.
        **options: Arguments of the task, such as those of `TranslationTask`, `CaptioningTask` or
            `AnsweringTask`.

    Returns:
        The task.

    Raises:
        ValueError: If the model has no task, or an option is not valid for it.
    """
    if not isinstance(model, TextModel):
        raise ValueError(f"Expected a model of kerasnmt.models. Received: {type(model).__name__}.")
    return kind_of(model.request_fields).task(model, **options)


def with_own_options(model: keras.Model, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a task, with the model's `search_options` for those that are left out."""
    own = model.search_options if isinstance(model, TextModel) else {}
    return {**own, **options}


def _on_own_weights(model: keras.Model) -> Callable[[Callable], Callable]:
    """Return a wrapper that reads the weights once in each call, before the loops of a search."""
    if keras.backend.backend() == "jax":
        return lambda function: function  # `compiled_by_jax` passes the weights

    def applied(function: Callable) -> Callable:
        def on_values(*arguments: Any, **options: Any) -> Any:
            values = [(weight, tf.convert_to_tensor(weight.value)) for weight in model.weights]
            with keras.StatelessScope(state_mapping=values):
                return function(*arguments, **options)

        return on_values

    return applied


def compiled(name: str, steps: Steps, model: keras.Model) -> Callable[..., Mapping[str, Any]]:
    """Compile steps for the backend of Keras.

    Args:
        name: Name of the function in the graph of an export.
        steps: Steps of the task.
        model: Model that `run` calls.

    Returns:
        A function that takes the fields as keywords, lists or tensors of strings `[batch]`, and
        returns a dict of the outputs.
    """
    if keras.backend.backend() == "jax":
        return StepsOnJax(steps, model)

    def function(*values: tf.Tensor, **named: tf.Tensor) -> dict[str, tf.Tensor]:
        fields = {**dict(zip(steps.fields, values, strict=False)), **named}
        return steps(*(fields[name] for name in steps.fields))

    named_function: Any = function
    named_function.__name__ = name
    # With this signature, the inputs of the graph have the names of the fields.
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in steps.fields]
    named_function.__signature__ = Signature(parameters)
    return tf.function(named_function, input_signature=steps.signature, autograph=False)
