"""The base of decoders."""

from typing import Any, ClassVar

import keras

from kerasnmt.layers.composite import Composite
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability


class Decoder(Composite, keras.layers.Layer):
    """Predict a target, token by token, from the annotations of a source.

    `call` runs over whole given targets, for training. `step` runs over one position, for search.
    Both give the same numbers.

    A subclass has an `embedding`, the `keras.layers.Embedding` of its vocabulary, and defines
    `build`, `project_memory`, `initial_state`, `call`, `step`, `next_log_probability` and
    `log_probability`. The other members have defaults.

    Shapes: `annotations` are `[batch, source_length, memory_units]`. A decoder of two texts takes
    the dicts that `ContextEncoder` returns.
    """

    # Whether the decoder predicts ids outside its vocabulary: those of unknown source words.
    copies: bool = False
    # Whether the records of `call` and `step` hold attention weights.
    has_attention: bool = False
    # The names of what `log_probability` reports in `measured`.
    measures: ClassVar[tuple[str, ...]] = ()

    def project_memory(
        self, annotations: Any, memory_mask: Any, *source_ids: Any
    ) -> dict[str, Any]:
        """Compute once per source what all steps need.

        Args:
            annotations: Output of the encoder, `[batch, source_length, memory_units]`.
            memory_mask: Boolean `[batch, source_length]`, True = real token.
            *source_ids: Only if the decoder copies: extended ids of each text that the encoder
                reads, int32 `[batch, source_length]`.

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
            steps: Maximum number of calls of `step`. A decoder that attends to its earlier steps
                allocates room for them. 0 if only `call` follows.

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
            target_ids: Int32 `[batch, target_length]`, starting with the start token. No extended
                ids.
            state: From `initial_state`.
            memory: From `project_memory`.
            training: Whether dropout applies.
            targets: The tokens to predict. The outputs are then their probabilities, which takes
                less time and memory than logits.

        Returns:
            Outputs, from which `log_probability` and `next_log_probability` compute probabilities:
            for a vocabulary projection the logits `[batch, target_length, vocabulary]`. With
            `targets`, their `TokenProbability`. And records, a dict of float32 tensors
            `[batch, target_length, ...]`: with attention, `weights`
            `[batch, target_length, source_length]`. Row t belongs to the token that is predicted
            there, which is token t of the targets.
        """
        raise NotImplementedError

    def step(self, ids: Any, state: Any, memory: dict[str, Any]) -> tuple[Any, dict[str, Any], Any]:
        """Predict the next token of each hypothesis of each row.

        Args:
            ids: Previous tokens, int32 `[batch, hypotheses]`. Extended ids if the decoder copies.
            state: From `initial_state` or the previous step, `[batch, hypotheses, ...]`.
            memory: From `project_memory`. The hypotheses of a row share it; it is never tiled.

        Returns:
            Outputs and records of one position, as `call` returns them, and the new state.
        """
        raise NotImplementedError

    def next_log_probability(self, outputs: Any) -> Any:
        """Return log p of every possible next id.

        Args:
            outputs: From `call` or `step`.

        Returns:
            Float32 `[..., vocabulary]`, or `[..., vocabulary + source_length]` if the decoder
            copies.
        """
        raise NotImplementedError

    def log_probability(self, outputs: Any, ids: Any) -> TokenProbability:
        """Return log p of the given ids, with what a model reports during training.

        Args:
            outputs: From `call` without targets.
            ids: Int32 `[batch, target_length]`. Extended ids if the decoder copies.
        """
        raise NotImplementedError

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return losses that training adds to the cross-entropy.

        Args:
            records: From `call`.
            target_ids: Argument of `call`.

        Returns:
            Float32 scalars.
        """
        return []

    def attend_by_head(self, target_ids: Any, memory: dict[str, Any]) -> Any:
        """Return the attention weights of each head of each layer, for given targets.

        Args:
            target_ids: Int32 `[batch, target_length]`, starting with the start token.
            memory: From `project_memory`.

        Returns:
            Float32 `[batch, layers, heads, target_length, source_length]`, lowest layer first.

        Raises:
            ValueError: If the attention has no heads.
        """
        raise ValueError(
            "Expected a decoder with attention heads, as of transformer_tiny. "
            f"Received: {type(self).__name__}. Use model.attend for its attention weights."
        )
