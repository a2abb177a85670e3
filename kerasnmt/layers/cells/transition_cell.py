"""Recurrent cell with several transitions in each step."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.cells.recurrent_cells import check_cell, check_inputs
from kerasnmt.layers.composite import Composite, build_once


@keras.saving.register_keras_serializable("kerasnmt")
class TransitionCell(Composite, keras.layers.Layer):
    """Deep transition: recurrent cells that run one after the other in each step.

        s_{t,1} = cell_1(x_t, s_{t-1}),    s_{t,k} = cell_k(b_k, s_{t,k-1}),    s_t = s_{t,n}

    Only the first cell reads an input. The others read a bias b_k. `StackedCell` is another kind of
    depth: there, each cell keeps a state of its own from step to step.

    Source: Miceli Barone et al. (2017), "Deep architectures for neural machine translation", deep
    transitions.

    Args:
        cells: Cells with states of the same sizes, in the order in which they run, for example
            `[GRUCell(units), GRUCell(units)]`.

    Raises:
        ValueError: If there is no cell, a cell projects its inputs itself, like one of Keras, or
            the sizes of the states differ.
    """

    def __init__(self, cells: Sequence[keras.layers.Layer], **kwargs) -> None:
        super().__init__(**kwargs)
        if not cells:
            raise ValueError(f"Expected at least one recurrent cell. Received: cells={cells}")
        check_transitions(cells)
        self.cells = list(cells)
        first = cells[0]
        self.units, self.input_size = first.units, first.input_size
        self.state_size, self.mask_size = list(first.state_size), list(first.mask_size)

    def build(self, inputs_shape: tuple) -> None:
        """Create the weights for inputs `(..., input_size)`."""
        check_inputs(inputs_shape, self)
        for cell in self.cells:
            build_once(cell, (None, cell.input_size))
        # A layer normalization would make the gradients of a bias of zeros huge.
        self.biases = [
            self.add_weight(
                shape=(cell.input_size,), initializer="random_uniform", name=f"bias_{number}"
            )
            for number, cell in enumerate(self.cells[1:], start=1)
        ]

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Compute one step.

        Args:
            inputs: Projected inputs of the first cell, `[..., input_size]`.
            states: List of states with the sizes of `state_size`, `[..., size]` each. Masks with
                the sizes of `mask_size` may follow, which all cells use; see `StateDropout`.

        Returns:
            The output of the last cell, `[..., units]`; and the list of its new states, and the
            masks if there are any.
        """
        output, states = self.cells[0](inputs, states)
        for cell, bias in zip(self.cells[1:], self.biases, strict=True):
            output, states = cell(ops.convert_to_tensor(bias), states)
        return output, states


def check_transitions(cells: Sequence[keras.layers.Layer]) -> None:
    """Check that cells, which run one after the other, take the same states and masks."""
    for cell in cells:
        check_cell(cell)
    for name in ("state_size", "mask_size"):
        sizes = [list(getattr(cell, name)) for cell in cells]
        if any(size != sizes[0] for size in sizes):
            raise ValueError(
                "Expected recurrent cells with states and masks of the same sizes, because each "
                f"continues the state of the one before. Received: {name}="
                f"{', '.join(map(str, sizes))}"
            )
