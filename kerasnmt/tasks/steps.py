"""Steps from the fields of a request to the outputs of an answer."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf


class Steps(NamedTuple):
    """Three steps that answer a request.

    TensorFlow runs the first and the last step, and Keras runs the second.

    Attributes:
        fields: Names of the fields of the request, in order.
        read: Function from the fields to a structure of arrays for `run`, and to other values for
            `write`.
        run: Function that calls the model, from this structure of arrays to another one.
        write: Function from the arrays of `run` and the other values to a dict of the outputs,
            `[batch, ...]` each.
        ids: Names of the fields that are ids, int32 `[batch, length]`. The others are strings
            `[batch]`.
    """

    fields: tuple[str, ...]
    read: Callable[..., tuple[Any, Any]]
    run: Callable[[Any], Any]
    write: Callable[[Any, Any], dict[str, tf.Tensor]]
    ids: tuple[str, ...] = ()

    def __call__(self, *fields: tf.Tensor) -> dict[str, tf.Tensor]:
        """Run all steps in one graph. Keras must run on TensorFlow."""
        batch, kept = self.read(*fields)
        return self.write(self.run(batch), kept)

    @property
    def signature(self) -> list[tf.TensorSpec]:
        """Specification of the tensors that `read` takes."""
        return [
            tf.TensorSpec([None, None], tf.int32, name=name)
            if name in self.ids
            else tf.TensorSpec([None], tf.string, name=name)
            for name in self.fields
        ]
