"""Stack of recurrent cells."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt.layers.cells.recurrent_cells import check_cell, check_inputs
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class StackedCell(Composite, keras.layers.Layer):
    """Stack of recurrent cells, where each cell reads the output of the cell below.

    The states of the topmost cell come first, because the first state is the query of an attention.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3; Wu et al. (2016), "Google's neural machine translation system",
    section 3.1, for the residual connections.

    Args:
        cells: Cells from bottom to top, for example `[LSTMCell(units), LSTMCell(units)]`.
        residual: Whether every cell except the first has a residual connection. A cell whose input
            and output differ in size has none.

    Raises:
        ValueError: If there is no cell, or a cell projects its inputs itself, like a cell of Keras.
    """

    def __init__(
        self, cells: Sequence[keras.layers.Layer], residual: bool = False, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        if not cells:
            raise ValueError(f"Expected at least one recurrent cell. Received: cells={cells}")
        for cell in cells:
            check_cell(cell)
        self.cells = list(cells)
        self.residual = residual
        self.units = cells[-1].units
        self.input_size = cells[0].input_size
        self.state_size = [size for cell in reversed(cells) for size in cell.state_size]
        self.mask_size = [size for cell in reversed(cells) for size in cell.mask_size]
        self.input_projections = [
            keras.layers.Dense(
                cell.input_size, dtype=self.dtype_policy, name=f"input_projection_{number}"
            )
            for number, cell in enumerate(cells[1:], start=1)
        ]

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., input_size)`."""
        check_inputs(inputs_shape, self)
        for cell in self.cells:
            build_once(cell, (None, cell.input_size))
        for projection, below in zip(self.input_projections, self.cells[:-1], strict=True):
            build_once(projection, (None, below.units))

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step.

        Args:
            inputs: Projected inputs of the first cell, `[..., input_size]`.
            states: List of states with the sizes of `state_size`, `[..., size]` each, the topmost
                cell's first. Masks with the sizes of `mask_size` may follow in the same order; see
                `StateDropout`.

        Returns:
            The output of the topmost cell, `[..., units]`; and the list of the new states, and the
            masks if there are any.
        """
        count = len(self.state_size)
        states, masks = list(states[:count]), list(states[count:])
        new_states: list[Any] = []
        new_masks: list[Any] = []
        output: Any = None
        for number, cell in enumerate(self.cells):
            states, own = _without_last(states, len(cell.state_size))
            masks, own_masks = _without_last(masks, len(cell.mask_size))
            below = output
            if number:
                inputs = on_rows(self.input_projections[number - 1], below)
            output, own = cell(inputs, [*own, *own_masks])
            own, own_masks = own[: len(cell.state_size)], own[len(cell.state_size) :]
            new_states, new_masks = [*own, *new_states], [*own_masks, *new_masks]
            if self.residual and number and below.shape[-1] == cell.units:
                output = output + below
        return output, [*new_states, *new_masks]


def _without_last(values: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    """Split a list before its last `count` values. An empty list gives two empty lists."""
    return values[: len(values) - count], values[len(values) - count :]
