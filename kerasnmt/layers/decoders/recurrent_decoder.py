"""Recurrent decoder: embedding, cell, readout and generator."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.decoders.decoder_loop import ReadoutDecoder
from kerasnmt.layers.decoders.generators import OutputRows
from kerasnmt.layers.decoders.token_probability import Targets


@keras.saving.register_keras_serializable("kerasnmt")
class RecurrentDecoder(ReadoutDecoder):
    """Decoder with a recurrent cell, a readout and a generator.

    The cell decides when to attend to the source. Upper layers read the layer below and the
    context. The readout turns the previous word, the state of the topmost layer and the context,
    (y_{t-1}, s_t, c_t), into features. The generator turns features into a distribution over the
    vocabulary. Without attention, the context c_t has size 0.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: A `DecoderCell`, for example `BahdanauDecoderCell`.
        readout: A readout, for example `MaxoutReadout`.
        generator: A generator, for example `VocabularyProjection`.
        dropout: Dropout rate of the embedded words and of the readout, in [0, 1).
        output_dropout: Dropout rate of the readout, if it differs from `dropout`.
        upper: Layers above the cell, from bottom to top, for example
            `[UpperLayer(GRUCell(units))]`. The bridge computes their first states too: those of the
            topmost layer come first, those of the cell last.
    """

    takes_rows = True

    def __init__(
        self,
        embedding: keras.layers.Layer,
        cell: keras.layers.Layer,
        readout: keras.layers.Layer,
        generator: keras.layers.Layer,
        dropout: float = 0.0,
        output_dropout: float | None = None,
        upper: Sequence[keras.layers.Layer] = (),
        **kwargs,
    ) -> None:
        super().__init__(embedding, cell, readout, generator, dropout, output_dropout, **kwargs)
        self.upper = list(upper)

    def call(
        self,
        target_ids: Any,
        state: DecoderState,
        memory: dict[str, Any],
        training: bool = False,
        targets: Targets | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Predict every next token of given targets; see `Decoder`."""
        readout_inputs, weights = self.run(target_ids, state, memory, training)
        return self.generate(readout_inputs, training, targets), self.records(weights, memory)

    def step(
        self, ids: Any, state: DecoderState, memory: dict[str, Any], rows: OutputRows | None = None
    ) -> tuple[Any, dict[str, Any], DecoderState]:
        """Predict the next token of each hypothesis; see `Decoder`.

        Here `ids` may also be `[batch]`, with a state `[batch, ...]`. `rows` are from
        `output_rows`, or None for the whole vocabulary.
        """
        readout_inputs, weights, state = self.run_step(ids, state, memory)
        records = self.records(weights, memory)
        if rows is None:
            return self.generate(readout_inputs), records, state
        return rows.logits(self.readout(*readout_inputs)), records, state

    def records(self, weights: Any, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the records of `call` and `step`.

        Args:
            weights: Attention weights, float32 `[..., source_length]`, or None without attention.
            memory: From `project_memory`.

        Returns:
            A dict with `weights`, which is empty without attention.
        """
        return {} if weights is None else {"weights": weights}

    def generate(
        self,
        readout_inputs: tuple[Any, Any, Any],
        training: bool = False,
        targets: Targets | None = None,
    ) -> Any:
        """Compute the outputs of the generator.

        Args:
            readout_inputs: (y_{t-1}, s_t, c_t), `[..., size]` each, from `run` or `run_step`.
            training: Whether dropout applies.
            targets: Tokens to predict, or None; see `Decoder`.

        Returns:
            Outputs of the generator: for a vocabulary projection, the logits `[..., vocabulary]`;
            with `targets`, their `TokenProbability`.
        """
        features = self.readout_dropout(self.readout(*readout_inputs), training=training)
        return self.generator(features, self.embedding.embeddings, targets=targets)
