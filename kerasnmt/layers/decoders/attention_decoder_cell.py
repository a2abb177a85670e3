"""Base class of decoder cells with attention."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.decoder_cell import DecoderCell, DecoderState

# Positions in the history of an attention, and their dtypes. Half precision cannot count them.
_POSITIONS = {"position": "int32", "means": "float32"}


class AttentionDecoderCell(DecoderCell):
    """Base class of decoder cells with a recurrent cell and an attention layer.

    A subclass implements `step`, which decides when to attend. It creates `context_projection`, the
    layer C that `project_memory` applies to the annotations h_i.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: Attention layer, for example `BahdanauAttention(units)`.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.
    """

    attention: keras.layers.Layer
    context_projection: keras.layers.Layer

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, state_dropout, **kwargs)
        self.attention = attention
        # `keras.layers.RNN` requires this attribute. The real sizes come with the initial state.
        self.state_size = [0]

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights; see `DecoderCell`."""
        super().build(input_shape, memory_shape)
        build_once(self.attention, (None, self.cell.units), None, memory_shape)

    def loop_cell(self) -> keras.layers.Layer:
        """Return this cell; see `DecoderCell`."""
        return self

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first step, with the attention's; see `DecoderCell`."""
        state = super().initial_state(states, memory, training, steps)
        return state._replace(
            attention=self.attention.initial_history(memory["memory_mask"], training)
        )

    def project_memory(self, annotations: Any, memory_mask: Any) -> dict[str, Any]:
        """Compute the keys, and the values C h_i, once per source; see `DecoderCell`."""
        return {
            "keys": self.attention.project(annotations),
            "values": self.context_projection(annotations),
            "memory_mask": memory_mask,
        }

    def attend(
        self, query: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Attend to the source.

        Args:
            query: `[..., query_units]`.
            state: State before the attention.
            memory: Arguments of the attention except the query and the history.

        Returns:
            The context, `[..., value_units]`; the weights, float32 `[..., source_length]`; and the
            state with the next history of the attention.
        """
        context, weights, history = self.attention(
            query, **memory, **state.attention, return_history=True
        )
        return context, weights, state._replace(attention=history)

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Make one step of `keras.layers.RNN`; see `unroll`.

        Args:
            inputs: From `project_inputs`, `[batch, input_size]`.
            states: State of `step`, and the memory. In half precision, the positions in this state
                are lists of digits.

        Returns:
            [output; weights], float32 `[batch, output_units + source_length]`; and the new state
            with the memory.
        """
        state, memory = states
        state = self._with_positions(_joined, state)
        output, weights, state = self.step(inputs, state, self._memory_in_loop(memory))
        outputs = ops.concatenate([ops.cast(output, "float32"), weights], axis=-1)
        return outputs, [self._with_positions(self._digits, state), memory]

    def _with_positions(self, function: Callable[[Any, str], Any], state: DecoderState) -> Any:
        """Apply a function to the positions, if `keras.layers.RNN` casts them to half precision."""
        if self.compute_dtype not in ("float16", "bfloat16") or not state.attention:
            return state
        positions = {
            name: function(state.attention[name], dtype)
            for name, dtype in _POSITIONS.items()
            if name in state.attention
        }
        return state._replace(attention={**state.attention, **positions})

    def _digits(self, position: Any, _: str) -> list[Any]:
        """Split a position into numbers that half precision represents."""
        position = ops.cast(position, "float32")
        whole = ops.floor(position)
        high = ops.floor(whole / 128)
        # XLA may leave out casts, so no digit is what a cast to half precision loses.
        digits = high, whole - 128 * high, position - whole
        return [ops.cast(digit, self.compute_dtype) for digit in digits]

    def _memory_in_loop(self, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the memory for `step`, after `keras.layers.RNN` has cast it to floats."""
        return {**memory, "memory_mask": ops.cast(memory["memory_mask"], "bool")}

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Make all steps of a given target; see `DecoderCell`.

        The memory becomes a part of the loop's state, which no step changes: the cell of a
        `keras.layers.RNN` gets only inputs and states.
        """
        state = self._with_positions(self._digits, state)
        outputs = loop(inputs, initial_state=[state, memory])
        # On TensorFlow, the gradient of `outputs[..., :n]` takes ten times as long as this one.
        size = (*ops.shape(outputs)[:2], self.output_units)
        weights = ops.cast(outputs[..., self.output_units :], "float32")
        return ops.slice(outputs, (0, 0, 0), size), weights


def _joined(digits: list[Any], dtype: str) -> Any:
    """Return the position from `_digits`, in its dtype."""
    high, low, rest = (ops.cast(digit, "float32") for digit in digits)
    return ops.cast(128 * high + low + rest, dtype)
