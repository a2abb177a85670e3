"""What the decoders around a decoder cell have in common."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.cells.fused_cell import FusedCell
from kerasnmt.layers.composite import Composite, build_once


class DecoderLoop(Composite, keras.layers.Layer):
    """Run a decoder cell over target words; a subclass turns what it hears into predictions.

    What a position hears is (y_{t-1}, s_t, c_t): the embedded word before, the cell's output and
    the context. Without attention the context is there, but has no features.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: a `DecoderCell`, for example `BahdanauDecoderCell`.
        dropout: share of the embedded words' features that is dropped in training, in [0, 1).
    """

    def __init__(
        self,
        embedding: keras.layers.Layer,
        cell: keras.layers.Layer,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.embedding = embedding
        self.cell = cell
        self.dropout = dropout
        dtype = self.dtype_policy
        self.embedding_dropout = keras.layers.Dropout(
            dropout, dtype=dtype, name="embedding_dropout"
        )
        loop_cell = cell.loop_cell()
        self.loop = (
            loop_cell.layer
            if isinstance(loop_cell, FusedCell)
            # Float32 without autocast leaves inputs and outputs as they are. Else attention weights
            # would be halved in precision, of which a pointer's loss takes logarithms.
            else keras.layers.RNN(
                loop_cell, return_sequences=True, dtype="float32", autocast=False, name="loop"
            )
        )

    def build(self, memory_shape: tuple) -> None:
        """Make the weights for a memory `(batch, source_length, memory_units)`."""
        build_once(self.embedding)
        build_once(self.cell, (None, None, self.embedding.output_dim), memory_shape)
        self.loop.built = True

    def heard_shapes(self, memory_shape: tuple) -> tuple[tuple, tuple, tuple]:
        """Return the shapes of (y_{t-1}, s_t, c_t), of which the last dimensions are known."""
        embedded = (None, None, self.embedding.output_dim)
        state = (None, None, self.cell.heard_units)
        return embedded, state, memory_shape if self.has_attention else (None, None, 0)

    @property
    def has_attention(self) -> bool:
        """Whether the records of `call` and `step` hold attention weights."""
        return self.cell.attention is not None

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Turn a bridge's states, those of the recurrent cell, into the first states of `step`.

        Args:
            states: `[batch, size]` each.
            memory: from `project_memory`.
            training: whether dropout of the states applies.
            steps: how often `step` will be called at the most, for cells that look back at earlier
                steps; 0 where only `call` follows.
        """
        return self.cell.initial_states(states, memory["cell"], training, steps)

    def project_memory(
        self, memory: Any, memory_mask: Any, source_ids: Any = None
    ) -> dict[str, Any]:
        """Prepare a source for `call` and `step`, once.

        Args:
            memory: `[batch, source_length, memory_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token.
            source_ids: int32 `[batch, source_length]`, for decoders that copy.

        Returns:
            what `call` and `step` take as `memory`.
        """
        return {"memory": memory, "cell": self.cell.project_memory(memory, memory_mask)}

    def hear(
        self, target_ids: Any, states: list[Any], memory: dict[str, Any], training: bool = False
    ) -> tuple[tuple[Any, Any, Any], Any]:
        """Run the cell over given targets; arguments as in `call`.

        Returns:
            what every position hears, `[batch, target_length, ...]` each; and the attention
            weights, float32 `[batch, target_length, source_length]`, or None.
        """
        embedded = self.embedding_dropout(self.embedding(target_ids), training=training)
        inputs = self.cell.project_inputs(embedded)
        state, weights = self.cell.unroll(self.loop, inputs, states, memory["cell"])
        state = ops.cast(state, embedded.dtype)
        return self._heard(embedded, state, weights, memory), weights

    def hear_step(
        self, ids: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[tuple[Any, Any, Any], Any, list[Any]]:
        """Run the cell over one position; arguments as in `step`.

        Returns:
            what the position hears, `[..., features]` each; the attention weights, float32
            `[..., source_length]`, or None; and the new states.
        """
        embedded = self.embedding(ids)
        inputs = self.cell.project_inputs(embedded)
        state, weights, states = self.cell.step(inputs, states, memory["cell"])
        return self._heard(embedded, state, weights, memory), weights, states

    def _heard(
        self, embedded: Any, state: Any, weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        context = state[..., :0] if weights is None else weighted_sum(weights, memory["memory"])
        return embedded, *self.cell.heard(state, context)

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return what training adds to the loss of the words, float32 scalars.

        They are the losses of the attention, that of its coverage and its penalty.

        Args:
            records: what `call` returned.
            target_ids: what it was given.
        """
        if not self.has_attention:
            return []
        # A position is real where it has an input: the word before its target.
        real = ops.not_equal(target_ids, PAD_ID)
        parts = self.cell.attention.coverage, self.cell.attention.penalty
        return [part.loss(records["weights"], real) for part in parts if part is not None]
