"""The recurrent decoder: embedding, cell, readout and generator."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.attention import weighted_sum
from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.fused_cell import FusedCell


@keras.saving.register_keras_serializable("kerasnmt")
class RecurrentDecoder(keras.layers.Layer):
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

    def __init__(
        self,
        embedding: keras.layers.Layer,
        cell: keras.layers.Layer,
        readout: keras.layers.Layer,
        generator: keras.layers.Layer,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.embedding = embedding
        self.cell = cell
        self.readout = readout
        self.generator = generator
        self.dropout = dropout
        dtype = self.dtype_policy
        self.embedding_dropout = keras.layers.Dropout(
            dropout, dtype=dtype, name="embedding_dropout"
        )
        self.readout_dropout = keras.layers.Dropout(dropout, dtype=dtype, name="readout_dropout")
        loop_cell = cell.loop_cell()
        self.loop = (
            loop_cell.layer
            if isinstance(loop_cell, FusedCell)
            else keras.layers.RNN(loop_cell, return_sequences=True, dtype=dtype, name="loop")
        )

    def build(self, memory_shape: tuple) -> None:
        """Make the weights for a memory `(batch, source_length, memory_units)`."""
        embedded_shape = (None, None, self.embedding.output_dim)
        state_shape = (None, None, self.cell.output_units)
        context_shape = memory_shape if self.has_attention else (None, None, 0)
        build_once(self.embedding)
        build_once(self.cell, embedded_shape, memory_shape)
        build_once(self.readout, embedded_shape, state_shape, context_shape)
        build_once(self.generator, (None, self.readout.units), self.embedding.embeddings.shape)
        self.loop.built = True

    @property
    def has_attention(self) -> bool:
        """Whether the records of `call` and `step` hold attention weights."""
        return self.cell.attention is not None

    def initial_states(self, states: list[Any], memory: dict[str, Any]) -> list[Any]:
        """Turn a bridge's states, those of the recurrent cell, into the first states of `step`.

        Args:
            states: `[batch, size]` each.
            memory: from `project_memory`.
        """
        return self.cell.initial_states(states, memory["cell"])

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for `call` and `step`, once.

        Args:
            memory: `[batch, source_length, memory_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token.

        Returns:
            what `call` and `step` take as `memory`: the memory itself, for the readout, and what
            the cell made of it.
        """
        return {"memory": memory, "cell": self.cell.project_memory(memory, memory_mask)}

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
        embedded = self.embedding_dropout(self.embedding(target_ids), training=training)
        inputs = self.cell.project_inputs(embedded)
        state, weights = self.cell.unroll(self.loop, inputs, states, memory["cell"])
        outputs = self._generate(embedded, state, weights, memory, training)
        return outputs, _records(weights)

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
        embedded = self.embedding(ids)
        state, weights, states = self.cell.step(
            self.cell.project_inputs(embedded), states, memory["cell"]
        )
        outputs = self._generate(embedded, state, weights, memory, training=False)
        return outputs, _records(weights), states

    def _generate(
        self, embedded: Any, state: Any, weights: Any, memory: dict[str, Any], training: bool
    ) -> Any:
        context = state[..., :0] if weights is None else weighted_sum(weights, memory["memory"])
        features = self.readout(embedded, state, context)
        features = self.readout_dropout(features, training=training)
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

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return what training adds to the loss of the words, float32 scalars: that of coverage.

        Args:
            records: what `call` returned.
            target_ids: what it was given.
        """
        if not self.has_attention or self.cell.attention.coverage is None:
            return []
        # A position is real where it has an input: the word before its target.
        real = ops.not_equal(target_ids, PAD_ID)
        return [self.cell.attention.coverage.loss(records["weights"], real)]

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        layers = {
            name: keras.saving.serialize_keras_object(getattr(self, name))
            for name in ("embedding", "cell", "readout", "generator")
        }
        return {**super().get_config(), **layers, "dropout": self.dropout}

    @classmethod
    def from_config(cls, config: dict) -> "RecurrentDecoder":
        """Make the layer from `get_config`."""
        config = dict(config)
        for name in ("embedding", "cell", "readout", "generator"):
            config[name] = keras.saving.deserialize_keras_object(config[name])
        return cls(**config)


def _records(weights: Any) -> dict[str, Any]:
    return {} if weights is None else {"weights": weights}
