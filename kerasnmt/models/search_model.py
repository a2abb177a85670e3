"""The base of models that predict a target step by step."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from kerasnmt.decoding import Hypotheses, SearchOptions, search
from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.models.checks import check_integers


class SearchModel(keras.Model):
    """Search for the most probable targets, as ids.

    `EncoderDecoder` and `Ensemble` are such models. A subclass defines the methods below `search`,
    and sets `has_attention` and `copies`. `search` itself needs only `encode`, `memory_mask` and
    `step`.
    """

    # Whether the records of `step` hold attention weights.
    has_attention: bool = False
    # Whether the model predicts ids outside its vocabulary: those of unknown source words.
    copies: bool = False

    def search(
        self,
        inputs: Any,
        *,
        prefix_ids: Any = None,
        n_best: int = 1,
        with_records: bool = False,
        **options,
    ) -> Hypotheses:
        """Find the best targets of given sources. Works inside a graph.

        No target holds padding or the start token before its end.

        Args:
            inputs: The inputs of `encode`, for example `{"source_ids": int32 [batch,
                source_length]}`. Inputs of the target are ignored. An array alone is `source_ids`.
            prefix_ids: The tokens that each target begins with, int32 `[batch, prefix_length]`,
                padded on the right with 0; None for none.
            n_best: Number of targets per source, at most the number of hypotheses.
            with_records: Whether to return the attention weights too.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            `Hypotheses` with ids `[batch, n_best, max_length]`, scores `[batch, n_best]` and
            records. The records are `{"weights": [batch, n_best, max_length, source_length]}`, and
            for a pointer-generator also `generate_probability` `[batch, n_best, max_length]`. They
            are empty without `with_records`, or if the model has no attention. A model that copies
            returns extended ids.

        Raises:
            ValueError: If an option or `n_best` is out of range, or a coverage penalty is requested
                of a model without attention.
        """
        search_options = SearchOptions.from_keywords(options)
        if search_options.coverage_penalty:
            self._need_attention()
        inputs = _source_inputs(inputs)
        if prefix_ids is not None:
            check_integers("prefix_ids", prefix_ids)
            prefix_ids = ops.cast(prefix_ids, "int32")
        states, memory = self.encode(inputs, steps=search_options.max_length)
        source_mask = self.memory_mask(memory)
        return search(
            self.step,
            states,
            memory,
            ops.full_like(source_mask[:, 0], START_ID, dtype="int32"),
            source_mask,
            search_options,
            end_id=END_ID,
            pad_id=PAD_ID,
            never_ids=(PAD_ID, START_ID),
            n_best=n_best,
            prefix_ids=prefix_ids,
            with_records=with_records,
            sampled_from=inputs,
        )

    def encode(self, inputs: dict[str, Any], steps: int = 0) -> tuple[Any, Any]:
        """Read the source.

        Args:
            inputs: Tensors `[batch, ...]` by name. Only those of the source are read.
            steps: Maximum number of calls of `step`.

        Returns:
            The first states and the memory, structures of tensors `[batch, ...]`.
        """
        raise NotImplementedError

    def memory_mask(self, memory: Any) -> Any:
        """Return the mask of the positions that attention weights belong to.

        Args:
            memory: From `encode`.

        Returns:
            Boolean `[batch, source_length]`, True = real.
        """
        raise NotImplementedError

    def step(self, ids: Any, states: Any, memory: Any) -> tuple[Any, dict[str, Any], Any]:
        """Predict the next token of each hypothesis of each row.

        Args:
            ids: Previous tokens, int32 `[batch, hypotheses]`.
            states: From `encode` or the previous step, `[batch, hypotheses, ...]`.
            memory: From `encode`.

        Returns:
            The log-probabilities of the next tokens, float32 `[batch, hypotheses, vocabulary]`, or
            `[batch, hypotheses, vocabulary + source_length]` if the model copies; the records, with
            attention `{"weights": float32 [batch, hypotheses, source_length]}`; and the new states.
        """
        raise NotImplementedError

    def token_log_probability(self, inputs: dict[str, Any], targets: Any) -> Any:
        """Return the log-probability of each token of given targets, without dropout.

        Args:
            inputs: The inputs of `call`.
            targets: Int32 `[batch, target_length]`, ending with the end token, padded with 0.

        Returns:
            Float32 `[batch, target_length]`, undefined where the targets are padded.
        """
        raise NotImplementedError

    def attend(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the attention weights of given targets, without dropout.

        Args:
            inputs: The inputs of `call`.

        Returns:
            Records with `weights`, float32 `[batch, target_length, source_length]`. Row t belongs
            to token t of the targets; the last token is the end token. For a pointer-generator also
            `generate_probability`, float32 `[batch, target_length]`.

        Raises:
            ValueError: If the model has no attention.
        """
        raise NotImplementedError

    def _need_attention(self) -> None:
        if not self.has_attention:
            raise ValueError(
                f"Expected a model with attention. Received: {self.name}, which has none. Choose "
                "another model of kerasnmt.zoo."
            )


def _source_inputs(inputs: Any) -> dict[str, Any]:
    """Return the inputs of the source as tensors, ids as int32."""
    inputs = inputs if isinstance(inputs, Mapping) else {"source_ids": inputs}
    read = {}
    for name, value in inputs.items():
        if name.endswith("_ids") and name != "target_ids":
            check_integers(name, value)
            read[name] = ops.cast(value, "int32")
        elif name not in ("target_ids", "alignments"):
            read[name] = ops.convert_to_tensor(value)
    return read
