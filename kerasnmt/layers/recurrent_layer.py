"""What the layers of a recurrent encoder have in common."""

from typing import Any, ClassVar

import keras
from keras import ops


class RecurrentLayer(keras.layers.Layer):
    """Reads a sequence in one or two directions; a subclass says in which.

    The inputs of all directions are projected in one product before the loops.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`; each
            direction has one like it.
    """

    # The names of the readings.
    directions: ClassVar[tuple[str, ...]]

    def __init__(self, cell: keras.layers.Layer, **kwargs) -> None:
        super().__init__(**kwargs)
        self.cell = cell
        self.units = len(self.directions) * cell.units
        self.state_size = [list(cell.state_size) for _ in self.directions]
        self.loops = [
            keras.layers.RNN(
                type(cell).from_config({**cell.get_config(), "name": "cell"}),
                return_sequences=True,
                return_state=True,
                go_backwards=direction == "backward",
                dtype=self.dtype_policy,
                name=direction,
            )
            for direction in self.directions
        ]
        self.input_projection = keras.layers.Dense(
            len(self.directions) * cell.input_size, dtype=self.dtype_policy, name="input_projection"
        )

    def build(self, inputs_shape: tuple) -> None:
        """Make the weights for inputs `(batch, length, features)`."""
        self.input_projection.build(inputs_shape)
        for loop in self.loops:
            loop.build((*inputs_shape[:-1], loop.cell.input_size))

    def call(self, inputs: Any, source_mask: Any = None) -> tuple[Any, list[list[Any]]]:
        """Read a sequence.

        Args:
            inputs: `[batch, length, features]`.
            source_mask: boolean `[batch, length]`, True = real token, or None. Padding leaves the
                states as they are.

        Returns:
            outputs `[batch, length, units]`, in the order of the inputs; and for each direction
            the list of the cell's last states, `[batch, size]`.
        """
        projected = ops.split(self.input_projection(inputs), len(self.loops), axis=-1)
        outputs, states = [], []
        for loop, own in zip(self.loops, projected, strict=True):
            output, *last = loop(own, mask=source_mask)
            outputs.append(ops.flip(output, axis=1) if loop.go_backwards else output)
            states.append(last)
        return ops.concatenate(outputs, axis=-1), states

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "cell": keras.saving.serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config: dict) -> "RecurrentLayer":
        """Make the layer from `get_config`."""
        deserialize = keras.saving.deserialize_keras_object
        return cls(**{**config, "cell": deserialize(config["cell"])})
