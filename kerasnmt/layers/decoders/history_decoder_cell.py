"""The decoder cell that attends to its own earlier states as well."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.products import on_rows
from kerasnmt.time_cache import TimeCache


@keras.saving.register_keras_serializable("kerasnmt")
class HistoryDecoderCell(BahdanauDecoderCell):
    """Bahdanau's step with a second attention, to the decoder's own states before.

        c_t = sum_i alpha_{t,i} h_i,       alpha_t = attention(s_{t-1}, h)
        k_t = sum_{j<t} beta_{t,j} s_j,    beta_t = history_attention(s_{t-1}, s_1 ... s_{t-1})
        s_t = cell(W y_{t-1} + b + C c_t + K k_t, s_{t-1})

    The first word has no history, and k_1 = 0. The output is [s_t; k_t], so that a readout hears
    the history beside the source. The states and their keys are kept in a `TimeCache`, which has
    room for the steps that `initial_states` is told of, and in `unroll` for the whole target.

    A gradient needs of every step the score's hidden layer and the states of the history: in
    training memory grows with target_length^2, and takes about twice what the attention to a source
    of that length does.

    Source: Cheng, Dong and Lapata (2016), "Long short-term memory-networks for machine reading",
    section 3, for a recurrent cell that attends to its earlier states with an additive score; there
    the context takes the place of s_{t-1}, here it is a further input. Paulus, Xiong and Socher
    (2018), "A deep reinforced model for abstractive summarization", section 2.2, for a decoder
    whose context of its earlier states stands beside that of the source, and begins with zeros.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: the attention to the source, for example `BahdanauAttention(units)`.
        history_attention: the attention to the earlier states, likewise.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.

    Raises:
        ValueError: the attention to the history has coverage or a window that moves.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: keras.layers.Layer,
        history_attention: keras.layers.Layer,
        state_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(cell, attention, state_dropout, **kwargs)
        if history_attention.history:
            raise ValueError(
                "Expected a history_attention that knows nothing of earlier words but their "
                f"states. Received: one that asks for {history_attention.history}. Give coverage "
                "and windows to the attention to the source."
            )
        self.history_attention = history_attention
        self.output_units = 2 * cell.units
        self.history_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=self.dtype_policy, name="history_projection"
        )

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights; arguments as in `DecoderCell`."""
        super().build(input_shape, memory_shape)
        states_shape = (None, None, self.cell.units)
        keys = self.history_attention.project(keras.KerasTensor(states_shape))
        build_once(self.history_attention, (None, self.cell.units), keys.shape)
        self.history_projection.build((None, self.cell.units))

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Add an empty cache of earlier states, and what the attention remembers."""
        first = super().initial_states(states, memory, training, steps)
        end = len(first) - len(self.attention.history)
        return [*first[:end], self._empty_cache(states[0], steps), *first[end:]]

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        """Make one step; see `DecoderCell`.

        Raises:
            ValueError: the states have no room for what a step adds.
        """
        (cache,) = (state for state in states if isinstance(state, TimeCache))
        if cache.written.shape[-1] == 0:
            raise ValueError(
                "Expected states with room for what each step adds. Received: states with "
                "steps=0. Say how many steps there will be, with "
                "model.encode(inputs, steps=100)."
            )
        return super().step(inputs, states, memory)

    def unroll(
        self, loop: keras.layers.RNN, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Make all steps of a given target, with room for its length; see `DecoderCell`."""
        cache = self._empty_cache(states[0], ops.shape(inputs)[1])
        states = [cache if isinstance(state, TimeCache) else state for state in states]
        return super().unroll(loop, inputs, states, memory)

    def _empty_cache(self, state: Any, steps: Any) -> TimeCache:
        return TimeCache.allocate(self._remembered(state), steps)

    def _remembered(self, state: Any) -> dict[str, Any]:
        """What later steps have to know of a state `[..., units]`."""
        return {"keys": on_rows(self.history_attention.project, state), "values": state}

    def _advance(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        *states, cache = states
        history = self._look_back(states[0], cache)
        inputs = inputs + on_rows(self.history_projection, history)
        output, weights, states = super()._advance(inputs, states, memory)
        cache = cache.write(self._remembered(output))
        return ops.concatenate([output, history], axis=-1), weights, [*states, cache]

    def _look_back(self, query: Any, cache: TimeCache) -> Any:
        """Attend with `[..., units]` to the states in the cache; returns the same shape."""

        def rows(tensor: Any, axes: int) -> Any:
            # Each hypothesis has a history of its own.
            return ops.reshape(tensor, (-1, *ops.shape(tensor)[-axes:]))

        context, _ = self.history_attention(
            rows(query, 1),
            **{name: rows(value, 2) for name, value in cache.values.items()},
            memory_mask=rows(cache.mask, 1),
        )
        return ops.reshape(context, ops.shape(query))
