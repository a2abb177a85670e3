"""The base of tasks: from the fields of a request to the outputs of an answer."""

from collections.abc import Callable, Mapping
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.backends import need_text_backend
from kerasnmt.tasks.on_jax import StepsOnJax
from kerasnmt.tasks.served_model import ServedModel
from kerasnmt.tasks.steps import Steps


class Task(ServedModel):
    """The way of a model from requests, dicts of named fields, to answers.

    A task turns fields into ids, runs the model, and turns its results into outputs. It runs where
    Keras does: on TensorFlow as one graph, which is also the graph of an export; on JAX the model's
    part is compiled by JAX, and TensorFlow, on the CPU, reads and writes text.

    A subclass names its `fields`, and lists its `served` steps, which exports have as signatures,
    and its `unserved` ones.

    Args:
        model: A model of `kerasnmt.models` with tokenizers.
        applied: A function that wraps the functions of the model which the task calls. An export
            wraps them to run on its stored weights; None for the model's own weights.

    Raises:
        ValueError: If the model has no tokenizers, or Keras runs on a backend other than TensorFlow
            and JAX.
    """

    fields: tuple[str, ...]

    def __init__(
        self, model: keras.Model, applied: Callable[[Callable], Callable] | None = None
    ) -> None:
        need_text_backend()
        if model.target_tokenizer is None:
            raise ValueError(
                f"Expected a model with tokenizers, to take text. Received: {model.name}, made of "
                "vocabulary sizes. Make it with tokenizers, or pass arrays to its other methods."
            )
        self.model = model
        self.applied = applied or _on_own_weights(model)

    @cached_property
    def served(self) -> dict[str, Steps]:
        """The steps of each signature of an export."""
        raise NotImplementedError

    @cached_property
    def unserved(self) -> dict[str, Steps]:
        """The steps that exports lack."""
        return {}

    @property
    def assets(self) -> Any:
        """The tokenizers and tables that an export has to track."""
        raise NotImplementedError

    @cached_property
    def signatures(self) -> Mapping[str, Callable[..., Mapping[str, Any]]]:
        """The compiled functions of all steps, by name."""
        steps = {**self.served, **self.unserved}
        return {name: compiled(name, one, self.model) for name, one in steps.items()}

    def function(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """Return the function of a signature, in the form that is fastest to call many times."""
        function: Any = self.signatures[name]
        if keras.backend.backend() == "jax":
            return function
        # The one concrete function: to look it up in each call takes 0.5 ms of the 10 ms that a
        # sentence takes.
        return function.get_concrete_function()


def _on_own_weights(model: keras.Model) -> Callable[[Callable], Callable]:
    """Return a wrapper that reads the weights once in each call, before the loops of a search."""
    if keras.backend.backend() == "jax":
        return lambda function: function  # compiled for given weights

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
        name: The name of the function, which an export writes into its graph.
        steps: The steps.
        model: The model that `run` calls.

    Returns:
        A function from the fields by name, lists or tensors of strings `[batch]`, to the outputs by
        name.
    """
    if keras.backend.backend() == "jax":
        return StepsOnJax(steps, model)

    def function(*values: tf.Tensor, **named: tf.Tensor) -> dict[str, tf.Tensor]:
        fields = {**dict(zip(steps.fields, values, strict=False)), **named}
        return steps(*(fields[name] for name in steps.fields))

    named_function: Any = function
    named_function.__name__ = name
    # The inputs of the graph have the names of the fields.
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in steps.fields]
    named_function.__signature__ = Signature(parameters)
    return tf.function(named_function, input_signature=steps.signature, autograph=False)
