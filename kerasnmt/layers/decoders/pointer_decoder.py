"""The decoder that only points."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID, UNKNOWN_ID
from kerasnmt.layers.decoders.copying import (
    IMPOSSIBLE,
    at_least_tiny,
    copied_log_probability,
    log_of,
    source_words,
    with_copies,
)
from kerasnmt.layers.decoders.decoder_loop import DecoderLoop


@keras.saving.register_keras_serializable("kerasnmt")
class PointerDecoder(DecoderLoop):
    """A pointer network: every word is one of the source, which the attention points at.

        p(w) = sum_{i: x_i = w} a_{t,i},    a_{t,i} = softmax_i(v^T tanh(W_1 h_i + W_2 s_t + b))

    with a cell that attends after its step, `LuongDecoderCell`, and the additive score. The next
    step reads the embedding of the word that was pointed at; pointing at the source's end token
    ends the output. The words are those of the extended vocabulary, see `PointerGeneratorDecoder`.

    Source: Vinyals, Fortunato and Jaitly (2015), "Pointer networks", section 2.3, whose
    equation has no bias b; it comes from the additive score.

    Args:
        embedding: `keras.layers.Embedding` of the vocabulary.
        cell: a `DecoderCell` with attention.
        dropout: share of the embedded words' features that is dropped in training, in [0, 1).

    Raises:
        ValueError: the cell has no attention.
    """

    copies = True

    def __init__(
        self,
        embedding: keras.layers.Layer,
        cell: keras.layers.Layer,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        if cell.attention is None:
            raise ValueError(
                "Expected a cell with attention, to point with. "
                f"Received: cell={type(cell).__name__}. Give a LuongDecoderCell, for example."
            )
        super().__init__(embedding, cell, dropout, **kwargs)

    def project_memory(self, memory: Any, memory_mask: Any, source_ids: Any) -> dict[str, Any]:
        """Prepare a source for `call` and `step`, once.

        Args:
            memory: `[batch, source_length, memory_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token.
            source_ids: extended ids, int32 `[batch, source_length]`.

        Returns:
            what `call` and `step` take as `memory`.
        """
        return {**super().project_memory(memory, memory_mask), **source_words(source_ids)}

    def call(
        self,
        target_ids: Any,
        states: list[Any],
        memory: dict[str, Any],
        training: bool = False,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Predict every next word of given targets.

        Args:
            target_ids: int32 `[batch, target_length]`, starting with the start token; below V.
            states: the first states, from `initial_states`.
            memory: from `project_memory`.
            training: whether dropout applies.

        Returns:
            outputs, for `log_probability`: `pointer`, a_t, float32 `[batch, target_length,
            source_length]`, and the memory's `source_ids`, `equal_words` and `columns`; and
            records, `weights`, which are a_t too.
        """
        _, weights = self.hear(target_ids, states, memory, training)
        return self._outputs(weights, memory), {"weights": weights}

    def step(
        self, ids: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
        """Predict the next word of several hypotheses of every row.

        Args:
            ids: the words before, extended ids, int32 `[batch, hypotheses]`.
            states: from `initial_states` or the step before, `[batch, hypotheses, ...]`.
            memory: from `project_memory`; shared by the hypotheses of a row, never tiled.

        Returns:
            outputs and records as `call` does, one position each; and the new states.
        """
        ids = ops.where(ids < self.embedding.input_dim, ids, UNKNOWN_ID)
        _, weights, states = self.hear_step(ids, states, memory)
        return self._outputs(weights, memory), {"weights": weights}, states

    def _outputs(self, weights: Any, memory: dict[str, Any]) -> dict[str, Any]:
        names = ("source_ids", "equal_words", "columns")
        return {"pointer": weights, **{name: memory[name] for name in names}}

    def next_log_probability(self, outputs: dict[str, Any]) -> Any:
        """Return log p of every next id; see `PointerGeneratorDecoder`."""
        weights = outputs["pointer"]
        shape = (*ops.shape(weights)[:2], self.embedding.input_dim)
        nothing = ops.full(shape, IMPOSSIBLE, dtype="float32")
        names = ("source_ids", "equal_words", "columns")
        return with_copies(nothing, 0.0, weights, *(outputs[name] for name in names))

    def log_probability(self, outputs: dict[str, Any], ids: Any) -> tuple[Any, Any]:
        """Return log p of the given ids, and the mean over the source's positions.

        Args:
            outputs: what `call` returned.
            ids: extended ids, int32 `[batch, target_length]`.

        Returns:
            two float32 tensors `[batch, target_length]`; the second serves label smoothing.
        """
        weights, source_ids = outputs["pointer"], outputs["source_ids"]
        real = ops.cast(ops.not_equal(source_ids, PAD_ID), "float32")[:, None, :]
        count = ops.maximum(ops.sum(real, axis=-1), 1.0)
        mean = ops.sum(real * log_of(weights), axis=-1) / count
        return at_least_tiny(copied_log_probability(weights, source_ids, ids)), mean
