"""Base class of decoder cells, and decoder cells without attention."""

from typing import Any, NamedTuple

import keras
from keras import ops

from kerasnmt.layers.cells.recurrent_cells import check_cell
from kerasnmt.layers.cells.state_dropout import StateDropout
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.on_rows import on_rows


class DecoderState(NamedTuple):
    """State of a recurrent decoder between two steps.

    It is a structure of tensors `[batch, ...]`, or `[batch, hypotheses, ...]` in a search.
    `keras.layers.RNN` and a search carry it from step to step. Members that a decoder cell does not
    use are empty.

    Attributes:
        cell: States of the recurrent cell, `[..., size]` each. In training, their dropout masks
            follow; see `StateDropout`.
        attention: History of the attention, such as its coverage; see `Attention.initial_history`.
        attentional: Attentional vector of the previous step, for input feeding, `[..., units]`.
        thought: Projected thought vector, `[..., input_size]`.
        history: `TimeCache` of earlier states, for an attention to the decoder's own history.
        joint: log p(a_t = j, y_t = v | y_<t) of every position j and word v before y_t is known,
            for hard attention, float32 `[..., source_length, vocabulary]`.
        upper: States of each upper layer, from bottom to top, as in `cell`.
    """

    cell: list[Any]
    attention: Any = ()
    attentional: Any = ()
    thought: Any = ()
    history: Any = ()
    joint: Any = ()
    upper: Any = ()


class DecoderCell(Composite, keras.layers.Layer):
    """Base class of decoder cells, which run a recurrent cell and decide when to attend.

    `step` makes one step, in search and in training. `unroll` makes all steps of a given target.
    Two methods move work out of the loop over the steps: `project_inputs` computes W y_{t-1} + b
    for all positions at once, and `project_memory` runs once per source.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: If the cell projects its inputs itself, like a cell of Keras.
    """

    # The attention layer. Without it, `step` and `unroll` return None instead of weights.
    attention: keras.layers.Layer | None = None

    def __init__(self, cell: keras.layers.Layer, state_dropout: float = 0.0, **kwargs) -> None:
        check_cell(cell)
        super().__init__(**kwargs)
        self.cell = cell
        self.state_dropout = state_dropout
        self.output_units = cell.units
        self.input_projection = keras.layers.Dense(
            cell.input_size, dtype=self.dtype_policy, name="input_projection"
        )
        self.state_masks = StateDropout(
            state_dropout, cell.mask_size, dtype=self.dtype_policy, name="state_masks"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights.

        Args:
            input_shape: `(..., features)`, the shape of the embedded target.
            memory_shape: `(batch, source_length, memory_units)`.
        """
        build_once(self.cell, (None, self.cell.input_size))
        self.input_projection.build(input_shape)

    @property
    def readout_units(self) -> int:
        """Size of the state s_t that `readout_inputs` returns."""
        return self.output_units

    def readout_inputs(self, output: Any, context: Any) -> tuple[Any, Any]:
        """Return s_t and c_t for the readout.

        Args:
            output: Output of `step` or `unroll`, `[..., output_units]`.
            context: Sum of the annotations, weighted by the attention, `[..., memory_units]`, or
                `[..., 0]` without attention.
        """
        return output, context

    def loop_cell(self) -> keras.layers.Layer:
        """Return the cell that `keras.layers.RNN` runs over a target."""
        return self.cell

    def recur(self, inputs: Any, state: DecoderState) -> tuple[Any, DecoderState]:
        """Run the recurrent cell once.

        Args:
            inputs: `[..., input_size]`.
            state: State before the step.

        Returns:
            The output of the cell, `[..., units]`; and the state with the cell's new states.
        """
        output, states = self.cell(inputs, state.cell)
        return output, state._replace(cell=states)

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first step.

        Args:
            states: First states of the recurrent cell from the bridge, `[batch, size]` each.
            memory: From `project_memory`.
            training: Whether dropout applies.
            steps: Maximum number of calls of `step`, for which a cell that attends to its earlier
                steps allocates room. 0 if only `unroll` follows.

        Returns:
            The first `state` of `step` and `unroll`.

        Raises:
            ValueError: If the states do not have the sizes of the cell.
        """
        check_first_states(states, self.cell)
        return DecoderState(self.state_masks(states, training=training))

    def project_memory(self, annotations: Any, memory_mask: Any) -> dict[str, Any]:
        """Compute what all steps need, once per source.

        Args:
            annotations: `[batch, source_length, memory_units]`.
            memory_mask: Boolean `[batch, source_length]`, True = real token.

        Returns:
            The `memory` argument of the other methods. The names of masks end with `mask`.
        """
        return {}

    def project_inputs(self, embedded: Any) -> Any:
        """Compute the inputs of `step` from embedded target words `[..., features]`."""
        return on_rows(self.input_projection, embedded)

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step for each row, or for each hypothesis of each row.

        Args:
            inputs: From `project_inputs`, `[batch, input_size]` or
                `[batch, hypotheses, input_size]`.
            state: From `initial_state` or the previous step, `[batch, ...]` or
                `[batch, hypotheses, ...]`.
            memory: From `project_memory`. The hypotheses of a row share it.

        Returns:
            The output, `[..., output_units]`; the attention weights, float32
            `[..., source_length]`, or None without attention; and the new state.
        """
        raise NotImplementedError

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Make all steps of a given target.

        Args:
            loop: A `keras.layers.RNN` around `loop_cell()` that returns sequences.
            inputs: From `project_inputs`, `[batch, target_length, input_size]`.
            state: From `initial_state`.
            memory: From `project_memory`.

        Returns:
            The outputs, `[batch, target_length, output_units]`; and the attention weights, float32
            `[batch, target_length, source_length]`, or None without attention.
        """
        raise NotImplementedError


def check_first_states(states: list[Any], cell: keras.layers.Layer) -> None:
    """Check that the first states from the bridge have the sizes of a recurrent cell."""
    sizes = [state.shape[-1] for state in states]
    if sizes != list(cell.state_size):
        raise ValueError(
            f"Expected first states of sizes {list(cell.state_size)}, as in the decoder's "
            f"{type(cell).__name__}. Received: sizes={sizes} from the bridge. Choose other encoder "
            "sizes, or a bridge that computes such states: DenseBridge or, for several layers, "
            "BackwardStateBridge with num_layers."
        )


@keras.saving.register_keras_serializable("kerasnmt")
class FirstStateDecoderCell(DecoderCell):
    """One step of a decoder without attention, which gets the thought vector as its first state.

        s_t = cell(W y_{t-1} + b, s_{t-1})

    The bridge computes s_0, the thought vector, which is all that the decoder knows about the
    source. The recurrent cell alone runs over a given target.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks".

    Args:
        cell: Recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, None, DecoderState]:
        """Make one step; see `DecoderCell`."""
        output, state = self.recur(inputs, state)
        return output, None, state

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, None]:
        """Make all steps of a given target; see `DecoderCell`."""
        return loop(inputs, initial_state=state.cell), None


@keras.saving.register_keras_serializable("kerasnmt")
class ThoughtVectorDecoderCell(DecoderCell):
    """One step of a decoder without attention, which gets the thought vector in every step.

        s_t = cell(W y_{t-1} + b + C c, s_{t-1}),    s_0 = c

    The bridge computes the thought vector c. C c is computed once per source and is part of the
    state.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", section 2.2 and appendix A.1.2, where s_0 = tanh(V' c).

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    def __init__(self, cell: keras.layers.Layer, state_dropout: float = 0.0, **kwargs) -> None:
        super().__init__(cell, state_dropout, **kwargs)
        self.context_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="context_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights; see `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.context_projection.build((None, self.cell.units))

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first step, with C c; see `DecoderCell`."""
        state = super().initial_state(states, memory, training, steps)
        return state._replace(thought=self.context_projection(states[0]))

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, None, DecoderState]:
        """Make one step; see `DecoderCell`."""
        output, state = self.recur(inputs + state.thought, state)
        return output, None, state

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, None]:
        """Make all steps of a given target; see `DecoderCell`."""
        return loop(inputs + ops.expand_dims(state.thought, 1), initial_state=state.cell), None
