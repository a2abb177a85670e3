"""Upper layer of a decoder, above the decoder cell."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.cells.fused_cell import loop_over
from kerasnmt.layers.cells.recurrent_cells import check_cell
from kerasnmt.layers.cells.state_dropout import StateDropout
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.decoders.decoder_cell import check_first_states
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class UpperLayer(Composite, keras.layers.Layer):
    """Upper layer of a decoder, which reads the layer below and the context.

        s_{t,k} = cell(W [o_{t,k-1}; c_t] + b, s_{t-1,k})
        o_{t,k} = s_{t,k}, or s_{t,k} + o_{t,k-1} with a residual connection

    o_{t,1} and c_t are the output and the context of the decoder cell, the first layer. Its
    attention does not depend on the upper layers. So over a given target, each layer runs by
    itself, after the layer below.

    Source: Wu et al. (2016), "Google's neural machine translation system", section 3 and figure 1,
    where residual connections start at the third layer of the decoder; Miceli Barone et al. (2017),
    "Deep architectures for neural machine translation", for decoders with a conditional GRU below.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        dropout: Dropout rate of the inputs, in [0, 1).
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
        residual: Whether the output of the layer below is added to the output. A layer whose output
            differs in size from the one below adds none.

    Raises:
        ValueError: If a dropout rate is out of range, or the cell projects its inputs itself, like
            a cell of Keras.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        dropout: float = 0.0,
        state_dropout: float = 0.0,
        residual: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        check_cell(cell)
        self.cell = cell
        self.dropout = dropout
        self.state_dropout = state_dropout
        self.residual = residual
        self.units = cell.units
        dtype = self.dtype_policy
        self.loop = loop_over(cell)
        self.input_projection = keras.layers.Dense(
            cell.input_size, dtype=dtype, name="input_projection"
        )
        self.input_dropout = ByteDropout(dropout, dtype=dtype, name="input_dropout")
        self.state_masks = StateDropout(
            state_dropout, cell.mask_size, dtype=dtype, name="state_masks"
        )

    def build(self, below_shape: tuple, context_shape: tuple) -> None:
        """Create the weights. Only the last dimensions of the shapes are used."""
        build_once(self.cell, (None, self.cell.input_size))
        self.input_projection.build((None, below_shape[-1] + context_shape[-1]))
        self.loop.built = True

    def initial_state(self, states: list[Any], training: bool = False) -> list[Any]:
        """Return the states before the first step.

        Args:
            states: First states of the cell from the bridge, `[batch, size]` each.
            training: Whether dropout applies.

        Returns:
            The list of the states. In training, their dropout masks follow; see `StateDropout`.

        Raises:
            ValueError: If the states do not have the sizes of the cell.
        """
        check_first_states(states, self.cell)
        return self.state_masks(states, training=training)

    def call(self, below: Any, context: Any, states: list[Any], training: bool = False) -> Any:
        """Make all steps of a given target.

        Args:
            below: Outputs of the layer below, `[batch, target_length, below_units]`.
            context: Contexts, `[batch, target_length, memory_units]`.
            states: From `initial_state`.
            training: Whether dropout applies.

        Returns:
            The outputs, `[batch, target_length, units]`.
        """
        inputs = self.input_dropout(ops.concatenate([below, context], axis=-1), training=training)
        outputs = self.loop(self.input_projection(inputs), initial_state=states)
        return self._output(ops.cast(outputs, below.dtype), below)

    def step(self, below: Any, context: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Make one step for each row, or for each hypothesis of each row.

        Args:
            below: Output of the layer below, `[..., below_units]`.
            context: Context, `[..., memory_units]`.
            states: From `initial_state` or the previous step, `[..., size]` each.

        Returns:
            The output, `[..., units]`; and the list of the new states.
        """
        inputs = on_rows(self.input_projection, ops.concatenate([below, context], axis=-1))
        output, states = self.cell(inputs, states)
        return self._output(output, below), states

    def _output(self, output: Any, below: Any) -> Any:
        adds = self.residual and below.shape[-1] == self.units
        return output + below if adds else output
