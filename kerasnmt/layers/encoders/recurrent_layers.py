"""Recurrent layers that read a sequence in one direction or in both."""

from typing import Any, ClassVar

import keras
from keras import ops

from kerasnmt.layers.cells.recurrent_cells import check_cell
from kerasnmt.layers.cells.state_dropout import StateDropout
from kerasnmt.layers.composite import Composite


class RecurrentLayer(Composite, keras.layers.Layer):
    """Base class of layers that read a sequence in one or two directions.

    One matrix product projects the inputs of all directions before the recurrence.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`. Each
            direction has its own copy.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: If the cell projects its inputs itself, like a cell of Keras.
    """

    # Directions of reading, "forward" and "backward".
    directions: ClassVar[tuple[str, ...]]

    def __init__(self, cell: keras.layers.Layer, state_dropout: float = 0.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        check_cell(cell)
        self.cell = cell
        self.state_dropout = state_dropout
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
        self.state_masks = StateDropout(
            state_dropout, cell.mask_size, dtype=self.dtype_policy, name="state_masks"
        )

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(batch, length, features)`."""
        self.input_projection.build(inputs_shape)
        for loop in self.loops:
            loop.build((*inputs_shape[:-1], loop.cell.input_size))

    def call(
        self,
        inputs: Any,
        source_mask: Any = None,
        mask: Any = None,
        training: bool = False,
    ) -> tuple[Any, list[list[Any]]]:
        """Read a sequence.

        Args:
            inputs: `[batch, length, features]`.
            source_mask: Boolean `[batch, length]`, True = real token. If None, `mask` is used.
                Padding does not change the states.
            mask: Mask of the inputs, boolean `[batch, length]`, which Keras passes.
            training: Whether dropout applies.

        Returns:
            The outputs, `[batch, length, units]`, in the order of the inputs; and, for each
            direction, a list of the cell's last states, `[batch, size]` each.
        """
        if source_mask is None:
            source_mask = mask
        projected = ops.split(self.input_projection(inputs), len(self.loops), axis=-1)
        outputs, states = [], []
        for loop, own in zip(self.loops, projected, strict=True):
            first = loop.get_initial_state(batch_size=ops.shape(own)[0])
            first = self.state_masks(first, training=training)
            output, *last = loop(own, initial_state=first, mask=source_mask)
            outputs.append(ops.flip(output, axis=1) if loop.go_backwards else output)
            states.append(last[: len(self.cell.state_size)])
        return ops.concatenate(outputs, axis=-1), states


@keras.saving.register_keras_serializable("kerasnmt")
class ForwardLayer(RecurrentLayer):
    """Recurrent layer that reads from the first word to the last.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    directions = ("forward",)


@keras.saving.register_keras_serializable("kerasnmt")
class BackwardLayer(RecurrentLayer):
    """Recurrent layer that reads from the last word to the first.

    The layer reads the first words of the source last, just before the decoder predicts the first
    words of the target. This makes training without attention easier. The outputs stay in the order
    of the source, and padding is skipped.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks",
    section 3.3.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    directions = ("backward",)


@keras.saving.register_keras_serializable("kerasnmt")
class BidirectionalLayer(RecurrentLayer):
    """Recurrent layer that reads in both directions.

        h_i = [h_i forward; h_i backward]

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", section 3.2 and appendix A.2.1.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    directions = ("forward", "backward")
