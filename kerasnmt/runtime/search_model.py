"""Base class of models on ONNX Runtime that search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.decoding.hypotheses import Hypotheses, StepOutputs
from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.runtime.onnx_graphs import ENCODER, STEP, OnnxGraphs
from kerasnmt.runtime.onnx_model import OnnxModel
from kerasnmt.runtime.search import Arrays, search, search_steps
from kerasnmt.runtime.terms import Terms


class OnnxSearchModel(OnnxModel):
    """Base class of models that search, for translations or captions."""

    graphs = (ENCODER, STEP)

    def __init__(
        self, directory: Path, description: Mapping[str, Any], tokenizers: Mapping[str, Any]
    ) -> None:
        super().__init__(directory, description, tokenizers)
        self._options = SearchOptions(**described_search(description))
        self._graphs = OnnxGraphs(directory, description["graphs"])
        self._records = description["graphs"]["records"]
        self._copies = description["copies"]

    @classmethod
    def with_options(
        cls,
        description: Mapping[str, Any],
        options: Mapping[str, Any],
        changes: Sequence[str] = (),
    ) -> Mapping[str, Any]:
        """Return a description with changed options of the search; see `OnnxModel`."""
        written = described_search(description)
        keywords = SearchOptions.with_changes({**written, **options}, changes)
        search = SearchOptions.from_keywords(keywords)
        if search.max_length < 2:
            raise ValueError(
                "Expected max_length of at least 2, a token and the end. "
                f"Received: max_length={search.max_length}"
            )
        positions = description.get("positions")  # learned ones, if there are any
        if positions is not None and search.max_length > positions:
            raise ValueError(
                f"Expected max_length of at most {positions}, the number of learned positions of "
                f"{description['model']}. Received: max_length={search.max_length}"
            )
        if search.coverage_penalty and "weights" not in description["graphs"]["records"]:
            raise ValueError(
                "Expected a model with attention, for a coverage penalty. Received: "
                f"coverage_penalty={search.coverage_penalty} with {description['model']}."
            )
        return {**description, **asdict(search)}

    def _found(
        self,
        inputs: Arrays,
        *,
        n_best: int = 1,
        prefix_ids: np.ndarray | None = None,
        terms: Terms | None = None,
        with_records: bool = False,
    ) -> Hypotheses:
        """Search for the best targets of inputs of the model, `[batch, ...]` each."""
        batch = min(map(len, inputs.values()))
        if not batch:  # ONNX Runtime does not take empty batches
            empty = {name: np.zeros((0, n_best, 0, 0), "float32") for name in self._records}
            scores = np.zeros((0, n_best), "float32")
            return Hypotheses(np.zeros((0, n_best, 0), "int32"), scores, empty)
        arguments, keywords = self._start(inputs, prefix_ids, with_records)
        return search(*arguments, n_best=n_best, terms=terms, **keywords)

    def _steps(
        self,
        inputs: Arrays,
        *,
        prefix_ids: np.ndarray | None = None,
        with_records: bool = False,
    ) -> Iterator[StepOutputs]:
        """Search for the best target of one row, and yield each step."""
        arguments, keywords = self._start(inputs, prefix_ids, with_records)
        return search_steps(*arguments, **keywords)

    def _start(
        self, inputs: Arrays, prefix_ids: np.ndarray | None, with_records: bool
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Encode inputs, and return the arguments of a search, by position and by keyword."""
        states, memory, mask = self._graphs.encode(inputs)
        with_records = with_records or self._options.coverage_penalty > 0

        def step(*arguments: Any) -> tuple[np.ndarray, Arrays, Arrays]:
            log_probabilities, records, following = self._graphs.step(*arguments)
            return log_probabilities, records if with_records else {}, following

        never_ids = self._options.never_ids(self._copies)
        keywords = {"never_ids": never_ids, "prefix_ids": prefix_ids, "sampled_from": inputs}
        return (step, states, memory, mask, self._options), keywords


def described_search(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `SearchOptions` in a description."""
    return {one.name: description[one.name] for one in fields(SearchOptions)}
