"""Base class of models that predict a target step by step."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
from keras import ops

from kerasnmt.decoding import (
    EveryId,
    Hypotheses,
    ListedIds,
    SearchOptions,
    SearchTree,
    StepOutputs,
    Stepwise,
    Terms,
    search,
)
from kerasnmt.ids import END_ID, PAD_ID, SOURCE_IDS, START_ID, extended
from kerasnmt.models.checks import check_integers, check_listed, check_prefixes


class SearchModel(keras.Model):
    """Base class of models that search for the most probable targets, as ids.

    `EncoderDecoder` and `Ensemble` are such models. A subclass implements `encode`, `memory_mask`
    and `step`, which `search` needs, and `token_log_probability`, `attend` and `inspect`. It sets
    `has_attention`, `has_heads` and `copies`.
    """

    # Whether the records of `step` contain attention weights.
    has_attention: bool = False
    # Whether the attention has heads, whose weights `attend_by_head` returns.
    has_heads: bool = False
    # Whether the model predicts extended ids, for unknown words in the source.
    copies: bool = False

    def search(
        self,
        inputs: Any,
        *,
        prefix_ids: Any = None,
        terms: Terms | None = None,
        listed_ids: Any = None,
        n_best: int = 1,
        with_records: bool = False,
        with_tree: bool = False,
        **options,
    ) -> Hypotheses | tuple[Hypotheses, SearchTree]:
        """Find the best targets of given sources.

        This also works in a graph. No target contains padding or the start token before its end,
        nor the unknown token if `allow_unknown` is False. That is the default of a model that
        copies: it copies an unknown word instead.

        Args:
            inputs: Inputs of `encode`, for example `{"source_ids": int32 [batch, source_length]}`,
                or `source_ids` alone. Inputs of the target are ignored.
            prefix_ids: Tokens with which each target must begin, int32 `[batch, prefix_length]`,
                padded on the right with 0, or None. Those longer than `max_length` are truncated.
            terms: Terms that each target must contain, or must not, as ids padded with 0, or None.
            listed_ids: Ids that targets consist of, int32 `[size]`, in ascending order, padded on
                the right with 0, or None for all. They must begin with the special ids 0, 1, 2 and
                3, and contain the ids of prefixes and terms. The probabilities are those of a
                softmax over these ids, which takes less time; see `kerasnmt.tasks.Shortlist`.
            n_best: Number of targets for each source, at most the number of hypotheses.
            with_records: Whether to return the records, such as attention weights.
            with_tree: Whether to return the tree of the beam search. Samples have no tree.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            `Hypotheses` with ids `[batch, n_best, max_length]`, scores `[batch, n_best]` and
            records. A model that copies returns extended ids. The records are a dict of `weights`,
            `[batch, n_best, max_length, source_length]`, and, for a pointer-generator,
            `generate_probability`, `[batch, n_best, max_length]`, and, if its pointer is separate,
            `pointer_weights`, with the shape of `weights`. They are empty if `with_records` is
            False or the model has no attention. With `with_tree`, a pair of the `Hypotheses` and
            the `kerasnmt.decoding.SearchTree`.

        Raises:
            ValueError: If an option, an id or `n_best` is out of range, if ids have another shape,
                if there is a coverage penalty but no attention, if a tree of samples or samples
                with terms are requested, if `listed_ids` lacks the special ids or is not in
                ascending order, or if the decoder cannot predict only listed ids.
        """
        search_options = self._search_options(options)
        listed = self._listed(listed_ids)
        start, given = self._start(inputs, prefix_ids, search_options, listed)
        found = search(
            listed.step(self.step),
            *start,
            search_options,
            end_id=END_ID,
            pad_id=PAD_ID,
            never_ids=search_options.never_ids(self.copies),
            n_best=n_best,
            terms=None if terms is None else listed.terms(terms),
            with_records=with_records,
            with_tree=with_tree,
            **given,
        )
        if isinstance(found, Hypotheses):
            return listed.written(found)
        hypotheses, search_tree = found
        return listed.written(hypotheses), listed.written(search_tree)

    def search_steps(
        self, *, with_records: bool = False, **options
    ) -> tuple[Callable[..., tuple[Any, StepOutputs]], Callable[[Any], tuple[Any, StepOutputs]]]:
        """Return functions that search one step at a time, for the best target of each source.

        They compute the same steps as `search`, eagerly or in graphs of their own.

        ```python
        begin, advance = model.search_steps(beam_size=5)
        now, outputs = begin({"source_ids": source_ids})
        while outputs.unfinished.numpy().any():
            now, outputs = advance(now)
        ```

        Args:
            with_records: Whether the steps return their records, such as attention weights.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            `begin(inputs, prefix_ids=None, listed_ids=None)`, which takes arguments of `search`,
            and `advance(now)`. Both return the state of the search, a structure of tensors, and
            `kerasnmt.decoding.StepOutputs`.

        Raises:
            ValueError: If an option is out of range, or there is a coverage penalty but no
                attention. `begin` raises the other errors of `search`.
        """
        search_options = self._search_options(options)

        def steps(listed: ListedIds | EveryId) -> Stepwise:
            return Stepwise(
                listed.step(self.step),
                search_options,
                end_id=END_ID,
                pad_id=PAD_ID,
                never_ids=search_options.never_ids(self.copies),
                with_records=with_records,
            )

        def begin(
            inputs: Any, prefix_ids: Any = None, listed_ids: Any = None
        ) -> tuple[Any, StepOutputs]:
            listed = self._listed(listed_ids)
            start, given = self._start(inputs, prefix_ids, search_options, listed)
            now, outputs = steps(listed).begin(*start, **given)
            return (now, listed), listed.written(outputs)

        def advance(state: tuple[Any, ListedIds | EveryId]) -> tuple[Any, StepOutputs]:
            now, listed = state
            now, outputs = steps(listed).advance(now)
            return (now, listed), listed.written(outputs)

        return begin, advance

    def _listed(self, ids: Any) -> ListedIds | EveryId:
        if ids is None:
            return EveryId()
        check_listed(ids)
        ids = ops.cast(ids, "int32")
        return ListedIds(ids, self.output_rows(ids))

    def _search_options(self, options: dict[str, Any]) -> SearchOptions:
        search_options = SearchOptions.from_keywords(options)
        if search_options.coverage_penalty:
            self._need_attention()
        return search_options

    def _start(
        self, inputs: Any, prefix_ids: Any, options: SearchOptions, listed: ListedIds | EveryId
    ) -> tuple[tuple[Any, Any, Any, Any], dict[str, Any]]:
        """Encode sources, and return arguments of a search, by position and by keyword."""
        inputs = _source_inputs(inputs)
        states, memory = self.encode(inputs, steps=options.max_length)
        source_mask = self.memory_mask(memory)
        if prefix_ids is not None:
            rows, size = source_mask.shape[0], self._target_size(inputs)
            check_prefixes(prefix_ids, size, rows, options.max_length)
            prefix_ids = listed.numbers_of(ops.cast(prefix_ids, "int32"))
        start_ids = ops.full_like(source_mask[:, 0], START_ID, dtype="int32")
        given = {"prefix_ids": prefix_ids, "sampled_from": inputs}
        return (states, memory, start_ids, source_mask), given

    def encode(self, inputs: dict[str, Any], steps: int = 0) -> tuple[Any, Any]:
        """Read the source.

        Args:
            inputs: Dict of tensors `[batch, ...]`. Only the inputs of the source are used.
            steps: Maximum number of calls of `step`.

        Returns:
            The first states and the memory, structures of tensors `[batch, ...]`.
        """
        raise NotImplementedError

    def _target_size(self, inputs: dict[str, Any]) -> int:
        """Return the number of ids that a target can have, for checks. By default, all of int32."""
        return 2**31

    def memory_mask(self, memory: Any) -> Any:
        """Return the mask of the source positions in the attention weights.

        Args:
            memory: From `encode`.

        Returns:
            Boolean `[batch, source_length]`, True = real position.
        """
        raise NotImplementedError

    def output_rows(self, ids: Any) -> Any:
        """Return the output weights of some ids, for `step`.

        Args:
            ids: Int32 `[size]`, in ascending order, padded on the right with 0.

        Returns:
            A structure of tensors.

        Raises:
            ValueError: If the model does more than to project features to the vocabulary.
        """
        raise NotImplementedError

    def step(
        self, ids: Any, states: Any, memory: Any, *rows: Any
    ) -> tuple[Any, dict[str, Any], Any]:
        """Predict the next token of each hypothesis of each row.

        Args:
            ids: Previous tokens, int32 `[batch, hypotheses]`.
            states: From `encode` or the previous step, `[batch, hypotheses, ...]`.
            memory: From `encode`.
            *rows: From `output_rows`, to predict only its ids, or nothing for all ids.

        Returns:
            The log-probabilities of the next tokens, float32 `[batch, hypotheses, vocabulary]`,
            `[batch, hypotheses, size]` with `rows`, or
            `[batch, hypotheses, vocabulary + source_length]` if the model copies; the records, a
            dict which has `weights`, float32 `[batch, hypotheses, source_length]`, with attention;
            and the new states.
        """
        raise NotImplementedError

    def token_log_probability(self, inputs: dict[str, Any], targets: Any) -> Any:
        """Return the log-probability of each token of given targets, without dropout.

        Args:
            inputs: Inputs of `call`.
            targets: Int32 `[batch, target_length]`, ending with the end token, padded with 0.

        Returns:
            Float32 `[batch, target_length]`, undefined for padding.
        """
        raise NotImplementedError

    def attend(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the attention weights of given targets, without dropout.

        Args:
            inputs: Inputs of `call`.

        Returns:
            Records, a dict of `weights`, float32 `[batch, target_length, source_length]`, and, for
            a pointer-generator, `generate_probability`, float32 `[batch, target_length]`, and, if
            its pointer is separate, `pointer_weights`, with the shape of `weights`. Row t belongs
            to token t of the targets, whose last token is the end token.

        Raises:
            ValueError: If the model has no attention.
        """
        raise NotImplementedError

    def inspect(self, inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the log-probabilities of all tokens at each position of given targets.

        Dropout does not apply.

        Args:
            inputs: Inputs of `call`.

        Returns:
            The log-probabilities, float32 `[batch, target_length, vocabulary]`, or
            `[batch, target_length, vocabulary + source_length]` if the model copies; and the
            records of `attend`, which are empty without attention. Row t belongs to token t of the
            targets, given the tokens before it.
        """
        raise NotImplementedError

    def _need_attention(self) -> None:
        if not self.has_attention:
            raise ValueError(
                f"Expected a model with attention. Received: {self.name}, which has none. Use "
                "another model of kerasnmt.zoo."
            )


def _source_inputs(inputs: Any) -> dict[str, Any]:
    """Return the inputs of the source as tensors, ids as int32."""
    inputs = inputs if isinstance(inputs, Mapping) else {"source_ids": inputs}
    read = {}
    for name, value in inputs.items():
        if name in SOURCE_IDS or name in map(extended, SOURCE_IDS):
            check_integers(name, value)
            read[name] = ops.cast(value, "int32")
        elif name not in ("target_ids", "targets", "alignments"):
            read[name] = ops.convert_to_tensor(value)
    return read
