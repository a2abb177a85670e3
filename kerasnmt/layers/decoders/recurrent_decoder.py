"""The recurrent decoder: embedding, cell, readout and generator."""

from typing import Any

import keras

from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.decoder_loop import DecoderLoop


@keras.saving.register_keras_serializable("kerasnmt")
class RecurrentDecoder(DecoderLoop):
    """Predict a target word by word from a memory.

    A cell says what of the source is heard and when, a readout turns (y_{t-1}, s_t, c_t) into
    features, and a generator turns features into a distribution. `call` runs over a whole given
    target, `step` over one position; both are made of the same calls and give the same numbers.
    Without attention the context c_t is there, but has no features.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: a `DecoderCell`, for example `BahdanauDecoderCell`.
        readout: for example `MaxoutReadout`.
        generator: for example `VocabularyProjection`.
        dropout: share of the embedded words' and of the readout's features that are dropped in
            training, in [0, 1).
    """

    # Whether it predicts ids beyond its vocabulary, those of source words outside of it.
    copies = False

    def __init__(
        self,
        embedding: keras.layers.Layer,
        cell: keras.layers.Layer,
        readout: keras.layers.Layer,
        generator: keras.layers.Layer,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(embedding, cell, dropout, **kwargs)
        self.readout = readout
        self.generator = generator
        self.readout_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy, name="readout_dropout"
        )

    def build(self, memory_shape: tuple) -> None:
        """Make the weights for a memory `(batch, source_length, memory_units)`."""
        super().build(memory_shape)
        build_once(self.readout, *self.heard_shapes(memory_shape))
        build_once(self.generator, (None, self.readout.units), self.embedding.embeddings.shape)

    def call(
        self,
        target_ids: Any,
        states: list[Any],
        memory: dict[str, Any],
        training: bool = False,
    ) -> tuple[Any, dict[str, Any]]:
        """Predict every next word of given targets.

        Args:
            target_ids: int32 `[batch, target_length]`, starting with the start token.
            states: the first states, from `initial_states`.
            memory: from `project_memory`.
            training: whether dropout applies.

        Returns:
            the generator's outputs for every position, for a vocabulary projection the logits
            `[batch, target_length, vocabulary]`; and records: with attention `weights`, float32
            `[batch, target_length, source_length]`, whose row t belongs to the word that is
            predicted there, the t-th of the targets.
        """
        heard, weights = self.hear(target_ids, states, memory, training)
        return self.generate(heard, training), _records(weights)

    def step(
        self, ids: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], list[Any]]:
        """Predict the next word of every row, or of several hypotheses of every row.

        Args:
            ids: the words before, int32 `[batch]` or `[batch, hypotheses]`.
            states: from `initial_states` or the step before, `[..., units]`.
            memory: from `project_memory`; shared by the hypotheses of a row, never tiled.

        Returns:
            the generator's outputs; records, with attention `weights`, float32
            `[..., source_length]`; and the new states.
        """
        heard, weights, states = self.hear_step(ids, states, memory)
        return self.generate(heard), _records(weights), states

    def generate(self, heard: tuple[Any, Any, Any], training: bool = False) -> Any:
        """Predict the next word from what a position hears.

        Args:
            heard: (y_{t-1}, s_t, c_t), `[..., features]` each, from `hear` or `hear_step`.
            training: whether dropout applies.

        Returns:
            the generator's outputs, for a vocabulary projection logits `[..., vocabulary]`.
        """
        features = self.readout_dropout(self.readout(*heard), training=training)
        return self.generator(features, self.embedding.embeddings)

    def next_log_probability(self, outputs: Any) -> Any:
        """Return log p of every next id, float32 `[..., vocabulary]`, from what `step` returned."""
        return self.generator.next_log_probability(outputs)

    def log_probability(self, outputs: Any, ids: Any) -> tuple[Any, Any]:
        """Return log p of the given ids, and its mean over the vocabulary, for the loss.

        Args:
            outputs: what `call` returned.
            ids: int32 `[batch, target_length]`.

        Returns:
            two float32 tensors `[batch, target_length]`; the second serves label smoothing.
        """
        return self.generator.log_probability(outputs, ids)


def _records(weights: Any) -> dict[str, Any]:
    return {} if weights is None else {"weights": weights}
