"""Decoders that generate words or copy them."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.layers.attention.base_attention import build_attention
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.copying import (
    IMPOSSIBLE,
    SourceWords,
    at_least_tiny,
    copied_log_probability,
    with_copies,
)
from kerasnmt.layers.decoders.decoder import Decoder
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.decoders.decoder_loop import attention_losses
from kerasnmt.layers.decoders.generators import VocabularyProjection
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability


@keras.saving.register_keras_serializable("kerasnmt")
class PointerGeneratorDecoder(Decoder):
    """Pointer-generator, which generates a word of the vocabulary or copies a word of the source.

        p(w) = p_gen p_vocab(w) + p_copy sum_{i: x_i = w} a_{t,i}

    This is a distribution over the extended vocabulary of each source: the V ids of the vocabulary,
    then V, V+1, … for the words of the source outside the vocabulary. The next step reads such a
    word as the unknown word.

    By default, the decoder's own attention, with its coverage, computes the weights a_t. If
    `pointer` is given, this separate attention computes them, with s_t as the query. With the
    additive score, this is the pointer of Stehnii's article plus a bias b:

        a_{t,i} = softmax_i(w^T tanh(W_x h_i + W_y s_t + b))

    The log-probabilities are always finite: a word of the source has a probability of at least
    1e-30 of being copied, also if a sparse normalizer gives its positions a weight of exactly 0. In
    the loss, a word that can be neither generated nor copied has this probability too.

    Source: Stehnii (2018), "Neural attention", section "Pointer networks"; See, Liu and Manning
    (2017), "Get to the point", equations 8 and 9.

    Args:
        decoder: A `RecurrentDecoder`.
        gate: `SoftmaxGate()` or `SigmoidGate()`.
        pointer: Attention layer without coverage, for example `BahdanauAttention(units)`, or None
            to point with the decoder's attention.

    Raises:
        ValueError: If the decoder has no attention and `pointer` is None, or if `pointer` has
            coverage or a window that moves with the target, or if the decoder's generator has
            another normalizer than the softmax.
    """

    copies = True
    has_attention = True
    measures = ("generate_probability",)

    def __init__(
        self,
        decoder: keras.layers.Layer,
        gate: keras.layers.Layer,
        pointer: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if pointer is None and not decoder.has_attention:
            raise ValueError(
                "Expected a pointer, because the decoder has no attention. Received: pointer=None. "
                "Pass an attention layer, for example BahdanauAttention(units)."
            )
        if pointer is not None and pointer.history:
            raise ValueError(
                "Expected a pointer without coverage and without a window that moves with the "
                f"target. Received: a pointer with history={pointer.history}. Use coverage in the "
                "decoder's attention, and point with it (pointer=None)."
            )
        generator = decoder.generator
        if isinstance(generator, VocabularyProjection) and generator.normalizer != "softmax":
            raise ValueError(
                "Expected a generator with the softmax, because the mixture of generating and "
                "copying has no entmax loss. Received: a generator with "
                f"normalizer={generator.normalizer!r}. Use it in the attention instead."
            )
        self.decoder = decoder
        self.gate = gate
        self.pointer = pointer

    def build(self, memory_shape: tuple) -> None:
        """Create the weights for annotations `(batch, source_length, memory_units)`."""
        build_once(self.decoder, memory_shape)
        shapes = self.decoder.readout_shapes(memory_shape)
        build_once(self.gate, *shapes)
        if self.pointer is not None:
            build_attention(self.pointer, shapes[1], memory_shape)

    @property
    def embedding(self) -> keras.layers.Layer:
        """Embedding of the vocabulary, which belongs to the inner decoder."""
        return self.decoder.embedding

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first token; see `Decoder`."""
        return self.decoder.initial_state(states, memory, training, steps)

    def project_memory(self, annotations: Any, memory_mask: Any, source_ids: Any) -> dict[str, Any]:
        """Compute what all steps need, once per source; see `Decoder`."""
        memory = self.decoder.project_memory(annotations, memory_mask)
        memory["words"] = SourceWords.of(source_ids)
        if self.pointer is not None:
            keys = self.pointer.project(annotations)
            memory["pointer"] = {"keys": keys, "values": keys, "memory_mask": memory_mask}
        return memory

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
            `targets`, they are a dict of `vocabulary`, the outputs of the decoder's generator;
            `gate`, log p_gen and log p_copy, float32 `[batch, target_length, 2]`; `pointer`, the
            weights a_t, float32 `[batch, target_length, source_length]`; and `words`, the
            `SourceWords`. The records contain `weights` of the attention;
            `generate_probability`, float32 `[batch, target_length]`; and, if the pointer is
            separate, its `pointer_weights`, with the shape of `weights`.
        """
        readout_inputs, weights = self.decoder.run(target_ids, state, memory, training)
        if targets is None:
            return self._mix(readout_inputs, weights, memory, training)
        gate, pointer, records = self._point(readout_inputs, weights, memory)
        known = targets._replace(ids=self._known(targets.ids))
        generated = self.decoder.generate(readout_inputs, training, known)
        return self._mixed(generated, gate, pointer, memory["words"], targets.ids), records

    def step(
        self, ids: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], DecoderState]:
        """Predict the next token of each hypothesis; see `Decoder`."""
        readout_inputs, weights, state = self.decoder.run_step(self._known(ids), state, memory)
        return *self._mix(readout_inputs, weights, memory), state

    def _mix(
        self,
        readout_inputs: tuple[Any, Any, Any],
        weights: Any,
        memory: dict[str, Any],
        training: bool = False,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return outputs and records. The decoder's attention computed `weights`."""
        gate, pointer, records = self._point(readout_inputs, weights, memory)
        outputs = {
            "vocabulary": self.decoder.generate(readout_inputs, training),
            "gate": gate,
            "pointer": pointer,
            "words": memory["words"],
        }
        return outputs, records

    def _point(
        self, readout_inputs: tuple[Any, Any, Any], weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Return log p_gen and log p_copy, the weights of the pointer, and records."""
        gate = self.gate(*readout_inputs)
        records = {"weights": weights, "generate_probability": ops.exp(gate[..., 0])}
        if self.pointer is None:
            return gate, weights, records
        _, pointer = self.pointer(readout_inputs[1], **memory["pointer"])
        if weights is None:
            return gate, pointer, {**records, "weights": pointer}
        return gate, pointer, {**records, "pointer_weights": pointer}

    def next_log_probability(self, outputs: dict[str, Any]) -> Any:
        """Return log p of every possible next id; see `Decoder`.

        Returns:
            Float32 `[batch, hypotheses, vocabulary + source_length]`, over the extended vocabulary.
            Extended ids that are not in the source have -1e9.
        """
        log_generate, log_copy = ops.split(outputs["gate"], 2, axis=-1)
        generated = log_generate + self.decoder.next_log_probability(outputs["vocabulary"])
        return with_copies(generated, log_copy, outputs["pointer"], outputs["words"])

    def log_probability(self, outputs: dict[str, Any], ids: Any) -> TokenProbability:
        """Return log p of the given ids; see `Decoder`.

        No tensor has the size of the extended vocabulary. `mean` is the mean of log p_vocab, so
        label smoothing does not affect the gate.
        """
        generated = self.decoder.log_probability(outputs["vocabulary"], self._known(ids))
        return self._mixed(generated, outputs["gate"], outputs["pointer"], outputs["words"], ids)

    def _known(self, ids: Any) -> Any:
        """Replace ids outside the vocabulary by the unknown word."""
        return ops.where(ids < self.embedding.input_dim, ids, UNKNOWN_ID)

    def _mixed(
        self, generated: TokenProbability, gate: Any, pointer: Any, words: SourceWords, ids: Any
    ) -> TokenProbability:
        """Return log p of ids, from log p of generating them and the weights of the pointer."""
        inside = ids < self.embedding.input_dim
        log_generated = ops.where(inside, gate[..., 0] + generated.log, IMPOSSIBLE)
        log_copied = gate[..., 1] + copied_log_probability(pointer, words.ids, ids)
        return TokenProbability(
            at_least_tiny(ops.logaddexp(log_generated, log_copied)),
            generated.mean,
            {"generate_probability": ops.exp(gate[..., 0])},
        )

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return the losses of the attention and of a separate pointer; see `Decoder`."""
        pointed = records.get("pointer_weights", records["weights"])
        losses = self.decoder.added_losses(records, target_ids)
        return [*losses, *attention_losses(self.pointer, pointed, target_ids)]


@keras.saving.register_keras_serializable("kerasnmt")
class ContextPointerDecoder(PointerGeneratorDecoder):
    """Pointer-generator that copies words of the source or of the context.

        p(w) = p_gen p_vocab(w) + p_source sum_{i: x_i = w} alpha_{t,i}
                                + p_context sum_{j: z_j = w} beta_{t,j}

    This is a distribution over the extended vocabulary of each row: the V ids of the vocabulary,
    then V, V+1, … for the words of the source x and of the context z outside the vocabulary. A word
    that is in both texts has one id.

    It equals a `PointerGeneratorDecoder` that points at the positions of both texts, with the
    weights [p_source alpha_t; p_context beta_t] / p_copy, where p_copy = p_source + p_context.

    Source: Stehnii (2018), "Neural attention", sections "Attention over context" and "Pointer
    networks"; McCann, Keskar, Xiong and Socher (2018), "The natural language decathlon", section 3,
    multi-pointer-generator decoder.

    Args:
        decoder: A `ContextDecoder`.
        gate: `ContextGate()`.
    """

    def __init__(self, decoder: keras.layers.Layer, gate: keras.layers.Layer, **kwargs) -> None:
        super().__init__(decoder, gate, **kwargs)

    def project_memory(
        self,
        annotations: dict[str, Any],
        memory_mask: dict[str, Any],
        source_ids: Any,
        context_ids: Any,
    ) -> dict[str, Any]:
        """Compute what all steps need, once per source and context; see `Decoder`.

        Args:
            annotations: `source` and `context`, `[batch, length, memory_units]` each.
            memory_mask: `source` and `context`, boolean `[batch, length]`, True = real token.
            source_ids: Extended ids, int32 `[batch, source_length]`.
            context_ids: Extended ids of the same vocabulary, int32 `[batch, context_length]`.
        """
        both = ops.concatenate([source_ids, context_ids], axis=1)
        return super().project_memory(annotations, memory_mask, both)

    def _point(
        self, readout_inputs: tuple[Any, Any, Any], weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, dict[str, Any]]:
        gate = self.gate(*readout_inputs)
        copy = gate[..., 1:]
        log_copy = ops.logsumexp(copy, axis=-1, keepdims=True)
        share = ops.exp(copy - log_copy)
        parts = self.decoder.records(weights, memory)
        pointer = ops.concatenate(
            [share[..., :1] * parts["weights"], share[..., 1:] * parts["context_weights"]], axis=-1
        )
        records = {
            **parts,
            "generate_probability": ops.exp(gate[..., 0]),
            "context_probability": ops.exp(gate[..., 2]),
        }
        return ops.concatenate([gate[..., :1], log_copy], axis=-1), pointer, records
