"""Decoder cells: a recurrent cell in a decoder."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.cells.state_dropout import StateDropout
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.products import on_rows


class DecoderCell(Composite, keras.layers.Layer):
    """A recurrent cell in a decoder; a subclass says what it hears of the source, and when.

    What does not depend on the state is taken out of the time loop: `project_inputs` makes
    W y_{t-1} + b for all positions at once, and `project_memory` whatever the source allows.
    `step` is the one path of training and search; `unroll` runs it over a whole target.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    # The attention layer, where there is one; the steps of others return no weights.
    attention = None

    def __init__(self, cell: keras.layers.Layer, state_dropout: float = 0.0, **kwargs) -> None:
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
        """Make the weights.

        Args:
            input_shape: `(..., features)` of the embedded target.
            memory_shape: `(batch, source_length, memory_units)`.
        """
        build_once(self.cell, (None, self.cell.input_size))
        self.input_projection.build(input_shape)

    @property
    def heard_units(self) -> int:
        """Number of the features of s_t that `heard` returns."""
        return self.output_units

    def heard(self, output: Any, context: Any) -> tuple[Any, Any]:
        """Return s_t and c_t as a readout hears them.

        Args:
            output: of `step` or `unroll`, `[..., output_units]`.
            context: the memory summed up by the attention weights, `[..., memory_units]`, without
                features where there is no attention.
        """
        return output, context

    def loop_cell(self) -> keras.layers.Layer:
        """Return the cell that `keras.layers.RNN` runs over a target."""
        return self.cell

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Add to a bridge's states what else the steps carry along.

        Args:
            states: the recurrent cell's first states, `[batch, size]` each.
            memory: from `project_memory`.
            training: whether dropout applies, so that the states have masks after them.
            steps: how often `step` will be called at the most, for cells that look back at earlier
                steps; 0 where only `unroll` follows.

        Returns:
            the first states of `step`.

        Raises:
            ValueError: the states are not of the cell's sizes.
        """
        sizes = [state.shape[-1] for state in states]
        if sizes != list(self.cell.state_size):
            raise ValueError(
                f"Expected first states of sizes {list(self.cell.state_size)}, those of the "
                f"decoder's {type(self.cell).__name__}. Received: sizes={sizes}, from the bridge. "
                "Choose encoder layers of fitting size, or a bridge that changes it, as "
                "DenseBridge does."
            )
        return self.state_masks(states, training=training)

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for all steps.

        Args:
            memory: `[batch, source_length, memory_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token.

        Returns:
            what the other methods take as `memory`.
        """
        return {}

    def project_inputs(self, embedded: Any) -> Any:
        """Turn embedded target words `[..., features]` into the inputs of `step`."""
        return on_rows(self.input_projection, embedded)

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        """Make one step for every row, or for several hypotheses of every row.

        Args:
            inputs: from `project_inputs`, `[batch, input_size]` or
                `[batch, hypotheses, input_size]`.
            states: from `initial_states` or the step before, `[batch, units]` or
                `[batch, hypotheses, units]`.
            memory: from `project_memory`; one for all hypotheses of a row.

        Returns:
            output `[..., output_units]`; attention weights, float32 `[..., source_length]`, or
            None without attention; and the list of new states.
        """
        raise NotImplementedError

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Make all steps of a given target.

        Args:
            loop: a `keras.layers.RNN` around `loop_cell()` that returns sequences.
            inputs: from `project_inputs`, `[batch, target_length, input_size]`.
            states: from `initial_states`.
            memory: from `project_memory`.

        Returns:
            outputs `[batch, target_length, output_units]`; and attention weights, float32
            `[batch, target_length, source_length]`, or None without attention.
        """
        raise NotImplementedError


@keras.saving.register_keras_serializable("kerasnmt")
class FirstStateDecoderCell(DecoderCell):
    """One step of a decoder without attention: s_t = cell(W y_{t-1} + b, s_{t-1}).

    All that is known of the source is the thought vector in s_0, from the bridge. Over a given
    target the recurrent cell runs alone.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks".

    Args:
        cell: a recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None, list[Any]]:
        """Make one step; see `DecoderCell`."""
        output, states = self.cell(inputs, states)
        return output, None, states

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None]:
        """Make all steps of a given target; see `DecoderCell`."""
        return loop(inputs, initial_state=states), None


@keras.saving.register_keras_serializable("kerasnmt")
class ThoughtVectorDecoderCell(DecoderCell):
    """One step of a decoder without attention: s_t = cell(W y_{t-1} + b + C c, s_{t-1}).

    The thought vector c is s_0, which the bridge made of the encoder's states. C c is computed
    once a source and carried along with the states.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", section 2.2 and appendix A.1.2; there s_0 = tanh(V' c), here
    c itself.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    def __init__(self, cell: keras.layers.Layer, state_dropout: float = 0.0, **kwargs) -> None:
        super().__init__(cell, state_dropout, **kwargs)
        self.context_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="context_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights; arguments as in `DecoderCell`."""
        super().build(input_shape, memory_shape)
        self.context_projection.build((None, self.cell.units))

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Add the projected thought vector to the recurrent cell's first states."""
        states = super().initial_states(states, memory, training, steps)
        return [*states, self.context_projection(states[0])]

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None, list[Any]]:
        """Make one step; see `DecoderCell`."""
        *states, context = states
        output, states = self.cell(inputs + context, states)
        return output, None, [*states, context]

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, None]:
        """Make all steps of a given target; see `DecoderCell`."""
        *states, context = states
        return loop(inputs + ops.expand_dims(context, 1), initial_state=states), None
