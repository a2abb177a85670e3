"""The decoder that generates words, or copies them from the source or from a context."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.context_decoder import split_weights
from kerasnmt.layers.copying import source_words
from kerasnmt.layers.pointer_generator_decoder import PointerGeneratorDecoder


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
