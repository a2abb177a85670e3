"""Decoder that only points at words of the source."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID, UNKNOWN_ID
from kerasnmt.layers.decoders.copying import (
    IMPOSSIBLE,
    SourceWords,
    at_least_tiny,
    copied_log_probability,
    log_of,
    with_copies,
)
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.decoders.decoder_loop import DecoderLoop
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability


@keras.saving.register_keras_serializable("kerasnmt")
class PointerDecoder(DecoderLoop):
    """Pointer network, whose attention points at the source word that it predicts.

        p(w) = sum_{i: x_i = w} a_{t,i},    a_{t,i} = softmax_i(v^T tanh(W_1 h_i + W_2 s_t + b))

    A `LuongDecoderCell` with the additive score computes these weights a_t. The next step reads
    the embedding of the predicted word. A target ends when the attention points at the end token of
    the source. `PointerGeneratorDecoder` describes the extended vocabulary.

    In the loss, a word has a probability of at least 1e-30, also if a sparse normalizer gives its
    positions a weight of exactly 0. Then the word has no gradient. In a search, it is impossible.

    Source: Vinyals, Fortunato and Jaitly (2015), "Pointer networks", section 2.3. The bias b comes
    from the additive score; the paper has none.

    Args:
        embedding: `keras.layers.Embedding` of the vocabulary.
        cell: A `DecoderCell` with attention.
        dropout: Dropout rate of the embedded words, in [0, 1).

    Raises:
        ValueError: If the cell has no attention.
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
                "Expected a cell with attention, because the attention points at the source. "
                f"Received: cell={type(cell).__name__}. Use LuongDecoderCell, for example."
            )
        super().__init__(embedding, cell, dropout, **kwargs)

    def project_memory(self, annotations: Any, memory_mask: Any, source_ids: Any) -> dict[str, Any]:
        """Compute what all steps need, once per source; see `Decoder`."""
        memory = super().project_memory(annotations, memory_mask)
        return {**memory, "words": SourceWords.of(source_ids)}

    def call(
        self,
        target_ids: Any,
        state: DecoderState,
        memory: dict[str, Any],
        training: bool = False,
        targets: Targets | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Predict every next token of given targets; see `Decoder`.

        Returns:
            Outputs and records. With `targets`, the outputs are their `TokenProbability`. Without
            `targets`, they are a dict of `pointer`, the weights a_t, float32
            `[batch, target_length, source_length]`, and `words`, the `SourceWords`. The records
            contain `weights`, the same a_t.
        """
        _, weights = self.run(target_ids, state, memory, training)
        outputs: Any = {"pointer": weights, "words": memory["words"]}
        if targets is not None:
            outputs = self.log_probability(outputs, targets.ids)
        return outputs, {"weights": weights}

    def step(
        self, ids: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], DecoderState]:
        """Predict the next token of each hypothesis; see `Decoder`."""
        ids = ops.where(ids < self.embedding.input_dim, ids, UNKNOWN_ID)
        _, weights, state = self.run_step(ids, state, memory)
        return {"pointer": weights, "words": memory["words"]}, {"weights": weights}, state

    def next_log_probability(self, outputs: dict[str, Any]) -> Any:
        """Return log p of every possible next id; see `Decoder`."""
        weights = outputs["pointer"]
        shape = (*ops.shape(weights)[:2], self.embedding.input_dim)
        impossible = ops.full(shape, IMPOSSIBLE, dtype="float32")
        return with_copies(impossible, 0.0, weights, outputs["words"])

    def log_probability(self, outputs: dict[str, Any], ids: Any) -> TokenProbability:
        """Return log p of the given ids, and its mean over the source words; see `Decoder`.

        A word at several positions counts as often, with its whole probability.
        """
        weights, words = outputs["pointer"], outputs["words"]
        real = ops.cast(ops.not_equal(words.ids, PAD_ID), "float32")[:, None, :]
        count = ops.maximum(ops.sum(real, axis=-1), 1.0)
        mean = ops.sum(real * log_of(words.copied(weights)), axis=-1) / count
        copied = copied_log_probability(weights, words.ids, ids)
        return TokenProbability(at_least_tiny(copied), mean, measured={})
