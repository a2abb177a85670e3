"""What the decoder cells with attention have in common."""

from typing import Any, ClassVar

import keras
from keras import ops

from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.decoder_cell import DecoderCell


class AttentionDecoderCell(DecoderCell):
    """A recurrent cell and an attention; a subclass says when the attention is asked.

    A subclass gives `project_memory` and `_advance`, and says what is in its memory.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: an attention layer, for example `BahdanauAttention(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    # The names of what `project_memory` returns; masks end with `mask`.
    memory_parts: ClassVar[tuple[str, ...]] = ("keys", "values", "memory_mask")

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, state_dropout, **kwargs)
        self.attention = attention
        # keras.layers.RNN asks for it; the sizes themselves come with the initial states.
        self.state_size = [0]

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights; arguments as in `DecoderCell`."""
        super().build(input_shape, memory_shape)
        build_once(self.attention, (None, self.cell.units), None, memory_shape)

    def loop_cell(self) -> keras.layers.Layer:
        """Return the cell that `keras.layers.RNN` runs over a target: this one."""
        return self

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Add to a bridge's states what the attention remembers of earlier words, at first."""
        states = super().initial_states(states, memory, training, steps)
        history = self.attention.initial_history(memory["memory_mask"])
        return [*states, *history.values()]

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        """Make one step; see `DecoderCell`."""
        names = self.attention.history
        states, remembered = states[: len(states) - len(names)], states[len(states) - len(names) :]
        history = dict(zip(names, remembered, strict=True))
        output, weights, states = self._advance(inputs, states, {**memory, **history})
        history = self.attention.next_history(history, weights)
        return output, weights, [*states, *history.values()]

    def _advance(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        """Make one step; `memory` holds the arguments of the attention but the query."""
        raise NotImplementedError

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Make one step of `keras.layers.RNN`; see `unroll`.

        Args:
            inputs: from `project_inputs`, `[batch, input_size]`.
            states: the states of `step`, then the parts of the memory.

        Returns:
            [output; weights], float32, and the new states.
        """
        end = len(states) - len(self.memory_parts)
        states, carried = states[:end], states[end:]
        memory = {
            name: ops.cast(part, "bool") if name.endswith("mask") else part
            for name, part in zip(self.memory_parts, carried, strict=True)
        }
        output, weights, states = self.step(inputs, states, memory)
        outputs = ops.concatenate([ops.cast(output, "float32"), weights], axis=-1)
        return outputs, [*states, *carried]

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Make all steps of a given target; see `DecoderCell`.

        The memory rides along as states that pass through unchanged, because the cell of a
        `keras.layers.RNN` has no other way to receive it.
        """
        parts = [memory[name] for name in self.memory_parts]
        outputs = loop(inputs, initial_state=[*states, *parts])
        # On TensorFlow the gradient of a slice by index takes ten times as long as that of this.
        size = (*ops.shape(outputs)[:2], self.output_units)
        weights = ops.cast(outputs[..., self.output_units :], "float32")
        return ops.slice(outputs, (0, 0, 0), size), weights
