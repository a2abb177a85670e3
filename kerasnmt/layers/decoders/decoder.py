"""Base class of decoders."""

from typing import Any, ClassVar

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.composite import Composite
from kerasnmt.layers.decoders.generators import OutputRows, VocabularyProjection
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability


class Decoder(Composite, keras.layers.Layer):
    """Base class of decoders, which predict a target from the annotations of a source.

    `call` runs over whole given targets, for training. `step` runs over one position, for search.
    Both give the same numbers.

    A subclass has an `embedding`, the `keras.layers.Embedding` of its vocabulary, and implements
    `build`, `project_memory`, `initial_state`, `call` and `step`. The other members have defaults.
    Without a `generator`, it also implements `next_log_probability` and `log_probability`.

    `annotations` are `[batch, source_length, memory_units]`. A decoder of two texts takes the dicts
    that `ContextEncoder` returns.
    """

    # Whether the decoder predicts extended ids, which include unknown words of the source.
    copies: bool = False
    # Whether the records of `call` and `step` contain attention weights.
    has_attention: bool = False
    # Whether `attend_by_head` returns weights.
    has_heads: bool = False
    # Layer that turns features into a distribution over the vocabulary, if there is one.
    generator: Any = None
    # Whether the outputs of `step` are the generator's, so that it can take `rows`.
    takes_rows: bool = False
    # Whether the generator can have another normalizer than the softmax, for an entmax loss.
    has_entmax_loss: bool = True
    # Names of the tensors in the `measured` of `log_probability`.
    measures: ClassVar[tuple[str, ...]] = ()

    def project_memory(
        self, annotations: Any, memory_mask: Any, *source_ids: Any
    ) -> dict[str, Any]:
        """Compute what all steps need, once per source.

        Args:
            annotations: Output of the encoder, `[batch, source_length, memory_units]`.
            memory_mask: Boolean `[batch, source_length]`, True = real token.
            *source_ids: Extended ids of each text that the encoder reads, int32
                `[batch, source_length]`, if the decoder copies.

        Returns:
            The `memory` argument of the other methods, a structure of tensors `[batch, ...]`.
        """
        raise NotImplementedError

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> Any:
        """Return the state before the first token.

        Args:
            states: Output of the bridge, `[batch, size]` each; empty without a bridge.
            memory: From `project_memory`.
            training: Whether dropout applies.
            steps: Maximum number of calls of `step`, for which a decoder that attends to its
                earlier steps allocates room. 0 if only `call` follows.

        Returns:
            The `state` argument of `call` and of the first `step`, a structure of tensors
            `[batch, ...]`.
        """
        raise NotImplementedError

    def call(
        self,
        target_ids: Any,
        state: Any,
        memory: dict[str, Any],
        training: bool = False,
        targets: Targets | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Predict every next token of given targets.

        Args:
            target_ids: Previous tokens, int32 `[batch, target_length]`: they start with the start
                token, and have no extended ids.
            state: From `initial_state`.
            memory: From `project_memory`.
            training: Whether dropout applies.
            targets: Tokens to predict. With them, the outputs are their probabilities, which takes
                less time and memory than logits.

        Returns:
            Outputs, the argument of `log_probability` and `next_log_probability`: for a vocabulary
            projection, the logits `[batch, target_length, vocabulary]`; with `targets`, their
            `TokenProbability`. And records, a dict of float32 tensors
            `[batch, target_length, ...]`: with attention, `weights`
            `[batch, target_length, source_length]`. Row t belongs to the predicted token t, not to
            the previous token.
        """
        raise NotImplementedError

    def compute_mask(self, target_ids: Any, previous_mask: Any = None) -> Any:
        """Return the mask of the outputs of `call`, with which metrics of Keras skip padding.

        Returns:
            Boolean `[batch, target_length]`, True = real token.
        """
        return ops.not_equal(target_ids, PAD_ID)

    def step(self, ids: Any, state: Any, memory: dict[str, Any]) -> tuple[Any, dict[str, Any], Any]:
        """Predict the next token of each hypothesis of each row.

        Args:
            ids: Previous tokens, int32 `[batch, hypotheses]`; extended ids if the decoder copies.
            state: From `initial_state` or the previous step, `[batch, hypotheses, ...]`.
            memory: From `project_memory`. The hypotheses of a row share it; it is never tiled.

        Returns:
            Outputs and records of one position, as in `call`; and the new state.
        """
        raise NotImplementedError

    def output_rows(self, ids: Any) -> OutputRows:
        """Return the output weights of some ids, for a search that writes no others.

        A decoder with `takes_rows` takes them as a last argument of `step`, whose outputs then
        belong to these ids.

        Args:
            ids: Int32 `[size]`, in ascending order, padded on the right with 0.

        Raises:
            ValueError: If the decoder does more than to project features to the vocabulary.
        """
        if not self.takes_rows or not isinstance(self.generator, VocabularyProjection):
            raise ValueError(
                "Expected a decoder that only projects features to the vocabulary, for a "
                f"shortlist. Received: {type(self).__name__}. Search without a shortlist."
            )
        return self.generator.output_rows(ids, self.embedding.embeddings)

    def next_log_probability(self, outputs: Any) -> Any:
        """Return log p of every possible next id, by default of the generator.

        Args:
            outputs: From `call` or `step`.

        Returns:
            Float32 `[..., vocabulary]`, or `[..., vocabulary + source_length]` if the decoder
            copies.
        """
        return self.generator.next_log_probability(outputs)

    def log_probability(self, outputs: Any, ids: Any) -> TokenProbability:
        """Return log p of the given ids, and the measures that a model reports during training.

        By default, the generator computes it.

        Args:
            outputs: From `call` without targets.
            ids: Int32 `[batch, target_length]`; extended ids if the decoder copies.
        """
        return self.generator.log_probability(outputs, ids)

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return losses that training adds to the cross-entropy.

        Args:
            records: From `call`.
            target_ids: Argument of `call`.

        Returns:
            List of float32 scalars.
        """
        return []

    def attend_by_head(self, target_ids: Any, memory: dict[str, Any]) -> Any:
        """Return the attention weights of each head of each layer, for given targets.

        Args:
            target_ids: Int32 `[batch, target_length]`, starting with the start token.
            memory: From `project_memory`.

        Returns:
            Float32 `[batch, layers, heads, target_length, source_length]`, layers from bottom to
            top.

        Raises:
            ValueError: If the attention has no heads.
        """
        raise ValueError(
            "Expected a decoder with attention heads, such as the decoder of transformer_tiny. "
            f"Received: {type(self).__name__}. Use model.attend to get its attention weights."
        )
