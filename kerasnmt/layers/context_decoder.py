"""The recurrent decoder that hears a source and a context."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.attention import weighted_sum
from kerasnmt.layers.recurrent_decoder import RecurrentDecoder


@keras.saving.register_keras_serializable("kerasnmt")
class ContextDecoder(RecurrentDecoder):
    """A `RecurrentDecoder` around a `ContextDecoderCell`.

    What a position hears is (y_{t-1}, s_t, [c_t; k_t]), and the weights of a position are those of
    both texts, [alpha_t; beta_t], the source's first.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: a `ContextDecoderCell`.
        readout: for example `MaxoutReadout`.
        generator: for example `VocabularyProjection`.
        dropout: share of the embedded words' and of the readout's features that are dropped in
            training, in [0, 1).
    """

    def heard_shapes(self, memory_shape: tuple) -> tuple[tuple, tuple, tuple]:
        """Return the shapes of (y_{t-1}, s_t, [c_t; k_t]); see `DecoderLoop`."""
        *others, context = super().heard_shapes(memory_shape)
        return *others, (*context[:-1], 2 * context[-1])

    def project_memory(
        self,
        memory: dict[str, Any],
        memory_mask: dict[str, Any],
        source_ids: Any = None,
        context_ids: Any = None,
    ) -> dict[str, Any]:
        """Prepare a source and a context for `call` and `step`, once.

        Args:
            memory: `source` and `context`, `[batch, length, memory_units]` each.
            memory_mask: likewise boolean `[batch, length]`, True = real token.
            source_ids: int32 `[batch, source_length]`, for decoders that copy.
            context_ids: likewise.

        Returns:
            what `call` and `step` take as `memory`.
        """
        return super().project_memory(memory, memory_mask)

    def _heard(
        self, embedded: Any, state: Any, weights: Any, memory: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        contexts = [
            weighted_sum(part, memory["memory"][name])
            for name, part in split_weights(weights, memory).items()
        ]
        return embedded, state, ops.concatenate(contexts, axis=-1)


def split_weights(weights: Any, memory: dict[str, Any]) -> dict[str, Any]:
    """Part the weights of both texts.

    Args:
        weights: `[..., source_length + context_length]`.
        memory: what `ContextDecoder.project_memory` returned.

    Returns:
        `source` `[..., source_length]` and `context` `[..., context_length]`.
    """
    length = ops.shape(memory["memory"]["source"])[1]
    return {"source": weights[..., :length], "context": weights[..., length:]}
