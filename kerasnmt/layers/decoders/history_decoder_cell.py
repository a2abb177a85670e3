"""Decoder cell that also attends to its own earlier states."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention.base_attention import build_attention
from kerasnmt.layers.decoders.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.on_rows import on_rows
from kerasnmt.time_cache import TimeCache


@keras.saving.register_keras_serializable("kerasnmt")
class HistoryDecoderCell(BahdanauDecoderCell):
    """One step of Bahdanau's decoder with a second attention, to the decoder's earlier states.

        c_t = sum_i alpha_{t,i} h_i,       alpha_t = attention(s_{t-1}, h)
        k_t = sum_{j<t} beta_{t,j} s_j,    beta_t = history_attention(s_{t-1}, s_1 ... s_{t-1})
        s_t = cell(W y_{t-1} + b + C c_t + K k_t, s_{t-1})

    The output is [s_t; k_t], so the readout gets both. The first word has no history: k_1 = 0. A
    `TimeCache` holds the states and their keys. `initial_state` allocates it for `steps` words, and
    `unroll` for the whole target.

    For the gradient, each step stores the score's hidden layer and the earlier states. So training
    takes memory that grows with the square of the target length, about twice the memory of an
    attention to a source of this length.

    Source: Cheng, Dong and Lapata (2016), "Long short-term memory-networks for machine reading",
    section 3, where the context replaces s_{t-1} (here it is an additional input); Paulus, Xiong
    and Socher (2018), "A deep reinforced model for abstractive summarization", section 2.2, where a
    decoder has a context of its earlier states in addition to the context of the source.

    Args:
        cell: Recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: Attention to the source, for example `BahdanauAttention(units)`.
        history_attention: Attention to the earlier states, a separate layer of the same kind.
        state_dropout: Dropout rate of the recurrent state, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: If `history_attention` has coverage, a penalty or a window that moves with the
            target.
    """

    value_names = ("values",)

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        history_attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, attention, state_dropout, **kwargs)
        if history_attention.history or history_attention.penalty is not None:
            raise ValueError(
                "Expected a history_attention without coverage, without a penalty and without a "
                "window that moves with the target. Received: one with "
                f"history={history_attention.history}, penalty={history_attention.penalty}. Use "
                "them in the attention to the source."
            )
        self.history_attention = history_attention
        self.output_units = 2 * cell.units
        self.history_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="history_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights; see `DecoderCell`."""
        super().build(input_shape, memory_shape)
        state = (None, self.cell.units)
        build_attention(self.history_attention, state, (None, *state))
        self.history_projection.build(state)

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first step, with an empty cache; see `DecoderCell`."""
        state = super().initial_state(states, memory, training, steps)
        return state._replace(history=self._empty_cache(states[0], steps))

    def step(
        self, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any, DecoderState]:
        """Make one step; see `DecoderCell`.

        Raises:
            ValueError: If the state has no room for a step.
        """
        if state.history.written.shape[-1] == 0:
            raise ValueError(
                "Expected a state with room for each step. Received: a state with steps=0. Pass "
                "the number of steps, for example model.encode(inputs, steps=100)."
            )
        context = self._attend_to_history(state.cell[0], state.history)
        inputs = inputs + on_rows(self.history_projection, context)
        output, weights, state = super().step(inputs, state, memory)
        cache = state.history.write(self._remembered(output))
        return ops.concatenate([output, context], axis=-1), weights, state._replace(history=cache)

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Make all steps of a given target, with room for its length; see `DecoderCell`."""
        cache = self._empty_cache(state.cell[0], ops.shape(inputs)[1])
        return super().unroll(loop, inputs, state._replace(history=cache), memory)

    def _empty_cache(self, state: Any, steps: Any) -> TimeCache:
        return TimeCache.allocate(self._remembered(state), steps)

    def _remembered(self, state: Any) -> dict[str, Any]:
        """Return what the cache stores of a state `[..., units]`."""
        return {"keys": on_rows(self.history_attention.project, state), "values": state}

    def _attend_to_history(self, query: Any, cache: TimeCache) -> Any:
        """Attend to the states in the cache; the query and the context are `[..., units]`."""

        def rows(tensor: Any, axes: int) -> Any:
            # Each hypothesis has its own history.
            return ops.reshape(tensor, (-1, *ops.shape(tensor)[-axes:]))

        context, _ = self.history_attention(
            rows(query, 1),
            **{name: rows(value, 2) for name, value in cache.values.items()},
            memory_mask=rows(cache.mask, 1),
        )
        return ops.reshape(context, ops.shape(query))
