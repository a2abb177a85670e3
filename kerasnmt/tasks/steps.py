"""The steps from the fields of a request to the outputs of an answer."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf


class Steps(NamedTuple):
    """One way to answer a request, in three steps.

    TensorFlow runs the first and the last step, Keras the second.

    Attributes:
        fields: The names of the fields of the request, in order.
        read: A function from the fields, strings `[batch]`, to a structure of arrays for `run`, and
            other values for `write`.
        run: A function from this structure of arrays to another one, by the model.
        write: A function from the arrays of `run` and these values to the outputs by name,
            `[batch, ...]`.
    """

    fields: tuple[str, ...]
    read: Callable[..., tuple[Any, Any]]
    run: Callable[[Any], Any]
    write: Callable[[Any, Any], dict[str, tf.Tensor]]

    def __call__(self, *fields: tf.Tensor) -> dict[str, tf.Tensor]:
        """Run all steps in one graph, where Keras runs on TensorFlow."""
        given, kept = self.read(*fields)
        return self.write(self.run(given), kept)

    @property
    def signature(self) -> list[tf.TensorSpec]:
        """The tensors that `read` takes."""
        return [tf.TensorSpec([None], tf.string, name=name) for name in self.fields]
