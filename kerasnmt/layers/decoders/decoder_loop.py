"""Base class of decoders with a decoder cell."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.attention.attention import weighted_sum
from kerasnmt.layers.cells.fused_cell import loop_over
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.decoder import Decoder
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.speed.after_loop import after_loop_if


class DecoderLoop(Decoder):
    """Base class of decoders with a decoder cell.

    The decoder runs the cell, then its upper layers, if it has any. At each position, it computes
    (y_{t-1}, s_t, c_t): the embedding of the previous word, the state of the topmost layer and the
    context. Without attention, the context has size 0. A subclass turns these vectors into
    predictions.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: A `DecoderCell`, for example `BahdanauDecoderCell`.
        dropout: Dropout rate of the embedded words, in [0, 1).
    """

    # Layers above the cell, from bottom to top.
    upper: Sequence[keras.layers.Layer] = ()

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
        self.embedding_dropout = ByteDropout(dropout, dtype=dtype, name="embedding_dropout")
        self.loop = loop_over(cell.loop_cell())

    def build(self, memory_shape: tuple) -> None:
        """Create the weights for annotations `(batch, source_length, memory_units)`."""
        build_once(self.embedding)
        build_once(self.cell, (None, None, self.embedding.output_dim), memory_shape)
        self.loop.built = True
        units, (*_, context) = self.cell.readout_units, self.readout_shapes(memory_shape)
        for layer in self.upper:
            build_once(layer, (None, units), context)
            units = layer.units

    def readout_shapes(self, memory_shape: tuple) -> tuple[tuple, tuple, tuple]:
        """Return the shapes of (y_{t-1}, s_t, c_t), where only the last dimensions are known."""
        embedded = (None, None, self.embedding.output_dim)
        state = (None, None, self.upper[-1].units if self.upper else self.cell.readout_units)
        return embedded, state, memory_shape if self.has_attention else (None, None, 0)

    @property
    def has_attention(self) -> bool:
        """Whether the records of `call` and `step` contain attention weights."""
        return self.cell.attention is not None

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first token; see `Decoder`.

        The states of the topmost layer come first, and those of the cell last.
        """
        upper: list[Any] = []
        for layer in reversed(self.upper):
            count = len(layer.cell.state_size)
            upper.insert(0, layer.initial_state(states[:count], training))
            states = states[count:]
        state = self.cell.initial_state(states, memory["projected"], training, steps)
        return state._replace(upper=upper)

    def project_memory(self, annotations: Any, memory_mask: Any) -> dict[str, Any]:
        """Compute what all steps need, once per source; see `Decoder`."""
        projected = self.cell.project_memory(annotations, memory_mask)
        return {"annotations": annotations, "projected": projected}

    def run(
        self, target_ids: Any, state: DecoderState, memory: dict[str, Any], training: bool = False
    ) -> tuple[tuple[Any, Any, Any], Any]:
        """Run the layers over given targets; see `Decoder.call` for the arguments.

        Returns:
            The inputs of the readout, (y_{t-1}, s_t, c_t), `[batch, target_length, ...]` each; and
            the attention weights, float32 `[batch, target_length, source_length]`, or None without
            attention.
        """
        embedded = self.embedding_dropout(self.embedding(target_ids), training=training)
        inputs = self.cell.project_inputs(embedded)
        upper, state = state.upper, state._replace(upper=())
        with after_loop_if(training):
            output, weights = self.cell.unroll(self.loop, inputs, state, memory["projected"])
        output = ops.cast(output, embedded.dtype)
        embedded, output, context = self._readout_inputs(embedded, output, weights, memory)
        for layer, states in zip(self.upper, upper, strict=True):
            output = layer(output, context, states, training=training)
        return (embedded, output, context), weights

    def run_step(
        self, ids: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[tuple[Any, Any, Any], Any, DecoderState]:
        """Run the layers over one position; see `Decoder.step` for the arguments.

        Returns:
            The inputs of the readout, (y_{t-1}, s_t, c_t), `[batch, hypotheses, ...]` each; the
            attention weights, float32 `[batch, hypotheses, source_length]`, or None without
            attention; and the new state.
        """
        embedded = self.embedding(ids)
        inputs = self.cell.project_inputs(embedded)
        output, weights, state = self.cell.step(inputs, state, memory["projected"])
        embedded, output, context = self._readout_inputs(embedded, output, weights, memory)
        upper: list[Any] = []
        for layer, states in zip(self.upper, state.upper, strict=True):
            output, states = layer.step(output, context, states)
            upper.append(states)
        return (embedded, output, context), weights, state._replace(upper=upper)

    def _readout_inputs(
        self, embedded: Any, output: Any, weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        if weights is None:
            context = output[..., :0]
        else:
            context = weighted_sum(weights, memory["annotations"])
        return embedded, *self.cell.readout_inputs(output, context)

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return the losses of the attention's coverage and penalty; see `Decoder`."""
        return attention_losses(self.cell.attention, records.get("weights"), target_ids)


def attention_losses(attention: Any, weights: Any, target_ids: Any) -> list[Any]:
    """Return the losses of the coverage and the penalty of an attention, or of None.

    Args:
        attention: Attention layer, or None.
        weights: Its weights, float32 `[batch, target_length, source_length]`.
        target_ids: Argument of `Decoder.call`.
    """
    if attention is None:
        return []
    # A position is real if its input, the previous word, is not padding.
    real = ops.not_equal(target_ids, PAD_ID)
    parts = attention.coverage, attention.penalty
    return [part.loss(weights, real) for part in parts if part is not None]


class ReadoutDecoder(DecoderLoop):
    """Base class of decoders whose readout and generator predict words.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: A `DecoderCell`, for example `BahdanauDecoderCell`.
        readout: A readout, for example `MaxoutReadout`.
        generator: A generator, for example `VocabularyProjection`.
        dropout: Dropout rate of the embedded words and of the readout, in [0, 1).
        output_dropout: Dropout rate of the readout, if it differs from `dropout`.
    """

    def __init__(
        self,
        embedding: keras.layers.Layer,
        cell: keras.layers.Layer,
        readout: keras.layers.Layer,
        generator: keras.layers.Layer,
        dropout: float = 0.0,
        output_dropout: float | None = None,
        **kwargs,
    ) -> None:
        super().__init__(embedding, cell, dropout, **kwargs)
        self.readout = readout
        self.generator = generator
        self.output_dropout = output_dropout
        self.readout_dropout = ByteDropout(
            dropout if output_dropout is None else output_dropout,
            dtype=self.dtype_policy,
            name="readout_dropout",
        )

    def build(self, memory_shape: tuple) -> None:
        """Create the weights for annotations `(batch, source_length, memory_units)`."""
        super().build(memory_shape)
        build_once(self.readout, *self.readout_shapes(memory_shape))
        build_once(self.generator, (None, self.readout.units), self.embedding.embeddings.shape)
