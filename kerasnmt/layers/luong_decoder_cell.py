"""The decoder cell that attends after its recurrent cell."""

from typing import Any

import keras

from kerasnmt.layers.attention_decoder_cell import AttentionDecoderCell


@keras.saving.register_keras_serializable("kerasnmt")
class LuongDecoderCell(AttentionDecoderCell):
    """One step of Luong's decoder without input feeding: the cell, then attend with s_t.

        s_t = cell(W y_{t-1} + b, s_{t-1}),    alpha_t = attention(s_t, h)

    The output is s_t; the attentional state tanh(W_c [c_t; s_t]) is made by the readout, for
    example `AttentionalReadout`. Nothing in the attention is recurrent: over a given target the
    recurrent cell runs alone, and all its states are attended with in one batched product.

    Source: Luong, Pham and Manning (2015), section 3.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `LSTMCell(units)`.
        attention: an attention layer without coverage, for example
            `Attention(GeneralScore(units))`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: the attention has coverage, which would make it recurrent.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        if attention.coverage is not None:
            raise ValueError(
                "Expected an attention without coverage, as nothing in this decoder's attention is "
                f"recurrent. Received: attention.coverage={attention.coverage}. Coverage goes with "
                "input feeding (InputFeedingDecoderCell) and with BahdanauDecoderCell."
            )
        super().__init__(cell, attention, state_dropout, **kwargs)

    def loop_cell(self) -> keras.layers.Layer:
        """Return the recurrent cell alone."""
        return self.cell

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for all steps: the keys, the memory as the values, and the mask."""
        keys = self.attention.project(memory)
        return {"keys": keys, "values": memory, "memory_mask": memory_mask}

    def _advance(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        output, states = self.cell(inputs, states)
        _, weights = self.attention(output, **memory)
        return output, weights, states

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Run the recurrent cell over a target, then attend with all its states at once."""
        end = len(states) - len(self.attention.history)
        outputs = loop(inputs, initial_state=states[:end])
        _, weights = self.attention(outputs, **memory)
        return outputs, weights
