"""Decoders that generate words or copy them."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.decoders.context_decoder import split_weights
from kerasnmt.layers.decoders.copying import (
    IMPOSSIBLE,
    at_least_tiny,
    copied_log_probability,
    source_words,
    with_copies,
)


@keras.saving.register_keras_serializable("kerasnmt")
class PointerGeneratorDecoder(Composite, keras.layers.Layer):
    """Generate a word of the vocabulary, or copy one of the source.

        p(w) = p_gen p_vocab(w) + p_copy sum_{i: x_i = w} a_{t,i}

    over the extended vocabulary of each source: the V ids of the vocabulary, then V, V+1, … for
    the source's words outside of it. The pointer a_t is the decoder's own attention, with its
    coverage if it has any; or an attention of its own, asked with the state s_t, of which the
    additive score is the pointer of the source below, and adds a bias b to it:
    softmax_i(w^T tanh(W_x h_i + W_y s_t + b)).

    The mixture is one of log-probabilities, and nothing becomes infinite: what is copied has a
    probability of 1e-30 at the least, and so has, in the loss, a word that can be neither generated
    nor copied. What is outside the vocabulary is fed back as the unknown word.

    Source: Stehnii (2018), "Neural attention", section "Pointer networks"; See, Liu and Manning
    (2017), "Get to the point", equations 8 and 9.

    Args:
        decoder: a decoder with a vocabulary, for example `RecurrentDecoder`.
        gate: `SoftmaxGate()` or `SigmoidGate()`.
        pointer: an attention layer without history, for example `BahdanauAttention(units)`; None
            shares the decoder's attention.

    Raises:
        ValueError: there is no attention to point with, or the pointer has to know of earlier
            words.
    """

    copies = True

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
                "Expected a pointer, for a decoder without attention. Received: pointer=None. "
                "Give an attention layer, for example BahdanauAttention(units)."
            )
        if pointer is not None and pointer.history:
            raise ValueError(
                "Expected a pointer that knows nothing of earlier words. Received: a pointer that "
                f"asks for {pointer.history}. Give coverage to the decoder's attention, and "
                "pointer=None shares it."
            )
        self.decoder = decoder
        self.gate = gate
        self.pointer = pointer

    def build(self, memory_shape: tuple) -> None:
        """Make the weights for a memory `(batch, source_length, memory_units)`."""
        build_once(self.decoder, memory_shape)
        shapes = self.decoder.heard_shapes(memory_shape)
        build_once(self.gate, *shapes)
        if self.pointer is not None:
            keys = self.pointer.project(keras.KerasTensor(memory_shape))
            build_once(self.pointer, shapes[1], keys.shape)

    @property
    def embedding(self) -> keras.layers.Layer:
        """The embedding of the vocabulary, the decoder's."""
        return self.decoder.embedding

    @property
    def has_attention(self) -> bool:
        """Whether there are weights to look at: always."""
        return True

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[Any]:
        """Turn a bridge's states into the first states of `step`; see `RecurrentDecoder`."""
        return self.decoder.initial_states(states, memory, training, steps)

    def project_memory(self, memory: Any, memory_mask: Any, source_ids: Any) -> dict[str, Any]:
        """Prepare a source for `call` and `step`, once.

        Args:
            memory: `[batch, source_length, memory_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token.
            source_ids: extended ids, int32 `[batch, source_length]`.

        Returns:
            what `call` and `step` take as `memory`.
        """
        projected = {
            **self.decoder.project_memory(memory, memory_mask),
            **source_words(source_ids),
        }
        if self.pointer is not None:
            keys = self.pointer.project(memory)
            projected["pointer"] = {"keys": keys, "values": keys, "memory_mask": memory_mask}
        return projected

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
            outputs, for `log_probability`: `vocabulary`, what the decoder's generator returned;
            `gate`, log p_gen and log p_copy, float32 `[batch, target_length, 2]`; `pointer`, a_t,
            float32 `[batch, target_length, source_length]`; and the memory's `source_ids`,
            `equal_words` and `columns`. And records, float32: `weights` of the attention, `[batch,
            target_length, source_length]`, and `generate_probability`, `[batch, target_length]`.
        """
        heard, weights = self.decoder.hear(target_ids, states, memory, training)
        return self._mix(heard, weights, memory, training)

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
        ids = ops.where(ids < self.decoder.embedding.input_dim, ids, UNKNOWN_ID)
        heard, weights, states = self.decoder.hear_step(ids, states, memory)
        return *self._mix(heard, weights, memory, training=False), states

    def _mix(
        self, heard: tuple[Any, Any, Any], weights: Any, memory: dict[str, Any], training: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        gate, pointer, records = self._point(heard, weights, memory)
        outputs = {
            "vocabulary": self.decoder.generate(heard, training),
            "gate": gate,
            "pointer": pointer,
            "source_ids": memory["source_ids"],
            "equal_words": memory["equal_words"],
            "columns": memory["columns"],
        }
        return outputs, records

    def _point(
        self, heard: tuple[Any, Any, Any], weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Choose between generating and copying, and point; the records of a position besides."""
        gate = self.gate(*heard)
        pointer = weights
        if self.pointer is not None:
            _, pointer = self.pointer(heard[1], **memory["pointer"])
        records = {
            "weights": pointer if weights is None else weights,
            "generate_probability": ops.exp(gate[..., 0]),
        }
        return gate, pointer, records

    def next_log_probability(self, outputs: dict[str, Any]) -> Any:
        """Return log p of every next id, from what `step` returned.

        Returns:
            float32 `[batch, hypotheses, vocabulary + source_length]`, over the extended vocabulary;
            -1e9 for extended ids that the source does not have.
        """
        log_generate, log_copy = ops.split(outputs["gate"], 2, axis=-1)
        return with_copies(
            log_generate + self.decoder.next_log_probability(outputs["vocabulary"]),
            log_copy,
            outputs["pointer"],
            outputs["source_ids"],
            outputs["equal_words"],
            outputs["columns"],
        )

    def log_probability(self, outputs: dict[str, Any], ids: Any) -> tuple[Any, Any]:
        """Return log p of the given ids, and the mean over the vocabulary if one is generated.

        Nothing of the extended vocabulary's size is made.

        Args:
            outputs: what `call` returned.
            ids: extended ids, int32 `[batch, target_length]`.

        Returns:
            two float32 tensors `[batch, target_length]`; the second serves label smoothing: it
            smooths what is generated, and leaves the gate alone.
        """
        inside = ids < self.decoder.embedding.input_dim
        generated, mean = self.decoder.log_probability(
            outputs["vocabulary"], ops.where(inside, ids, UNKNOWN_ID)
        )
        generated = ops.where(inside, outputs["gate"][..., 0] + generated, IMPOSSIBLE)
        copied = copied_log_probability(outputs["pointer"], outputs["source_ids"], ids)
        return at_least_tiny(ops.logaddexp(generated, outputs["gate"][..., 1] + copied)), mean

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return what training adds to the loss of the words; see `RecurrentDecoder`."""
        return self.decoder.added_losses(records, target_ids)


@keras.saving.register_keras_serializable("kerasnmt")
class ContextPointerDecoder(PointerGeneratorDecoder):
    """Generate a word of the vocabulary, or copy one of the source or of the context.

        p(w) = p_gen p_vocab(w) + p_source sum_{i: x_i = w} alpha_{t,i}
                                + p_context sum_{j: z_j = w} beta_{t,j}

    over the extended vocabulary of each row: the V ids of the vocabulary, then V, V+1, … for the
    words outside of it of source x and context z, which have one id where they stand in both. It is
    the mixture of a `PointerGeneratorDecoder` that points at the places of both texts, with
    p_copy = p_source + p_context and the weights [p_source alpha_t; p_context beta_t] / p_copy.

    Source: Stehnii (2018), "Neural attention", sections "Attention over context" and "Pointer
    networks"; the multi-pointer-generator decoder of McCann, Keskar, Xiong and Socher (2018), "The
    natural language decathlon", section 3.

    Args:
        decoder: a `ContextDecoder`.
        gate: `ContextGate()`.
    """

    def __init__(self, decoder: keras.layers.Layer, gate: keras.layers.Layer, **kwargs) -> None:
        super().__init__(decoder, gate, **kwargs)

    def project_memory(
        self,
        memory: dict[str, Any],
        memory_mask: dict[str, Any],
        source_ids: Any,
        context_ids: Any,
    ) -> dict[str, Any]:
        """Prepare a source and a context for `call` and `step`, once.

        Args:
            memory: `source` and `context`, `[batch, length, memory_units]` each.
            memory_mask: likewise boolean `[batch, length]`, True = real token.
            source_ids: extended ids, int32 `[batch, source_length]`.
            context_ids: extended ids of the same vocabulary, int32 `[batch, context_length]`.

        Returns:
            what `call` and `step` take as `memory`.
        """
        return {
            **self.decoder.project_memory(memory, memory_mask),
            **source_words(ops.concatenate([source_ids, context_ids], axis=1)),
        }

    def _point(
        self, heard: tuple[Any, Any, Any], weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, dict[str, Any]]:
        gate = self.gate(*heard)
        copy = gate[..., 1:]
        log_copy = ops.logsumexp(copy, axis=-1, keepdims=True)
        share = ops.exp(copy - log_copy)
        parts = split_weights(weights, memory)
        pointer = ops.concatenate(
            [share[..., :1] * parts["source"], share[..., 1:] * parts["context"]], axis=-1
        )
        records = {
            "weights": parts["source"],
            "context_weights": parts["context"],
            "generate_probability": ops.exp(gate[..., 0]),
            "context_probability": ops.exp(gate[..., 2]),
        }
        return ops.concatenate([gate[..., :1], log_copy], axis=-1), pointer, records
