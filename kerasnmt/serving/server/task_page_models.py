"""Answers to the questions of the page, from a task."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerasnmt.decoding import length_penalty
from kerasnmt.serving.server.page_models import Document, PageModel, Request, unmet_messages
from kerasnmt.tasks.explorer import Explorer, inspect_story
from kerasnmt.tasks.search_task import SearchTask


class TaskPageModel(PageModel):
    """Base class of tasks behind the page.

    Args:
        task: The task.
    """

    def __init__(self, task: Any) -> None:
        self._task = task

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields."""
        return self._task.fields

    @property
    def description(self) -> Mapping[str, Any]:
        """Description of the task."""
        return self._task.description


class SearchPageModel(TaskPageModel):
    """Task of a model that translates or captions."""

    inspects = True

    def __init__(self, task: SearchTask) -> None:
        super().__init__(task)
        self._explorer = Explorer(task)
        self.takes_terms = "explore_with_terms" in task.local

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Search; see `PageModel`."""
        exploration = self._explorer.search(request, prefix_ids)
        best = exploration.ids[0] if exploration.ids else []
        sentence = self.inspect(request, best) if best else None
        truncated = self._explorer.truncated(request)
        document = {**exploration.document(), "sentence": sentence, "truncated": truncated}
        if "terms" in request:
            document["unmet"] = unmet_messages(request, document["hypotheses"])
        return document

    def inspect(self, request: Request, target_ids: list[int]) -> Document:
        """Inspect; see `PageModel`."""
        inspection = self._explorer.inspect(request, target_ids)
        return {**inspection.document(), "score": self._score(inspection.log_probability)}

    def _score(self, log_probability: np.ndarray) -> float | None:
        """Return the score by which a search would rank an answer, or None if it needs more."""
        options = self._task.options
        if options.coverage_penalty or options.samples:
            return None
        divisor = length_penalty(
            np.array([len(log_probability)]), options.length_penalty, options.length_normalization
        )
        return round(float(log_probability.sum() / np.asarray(divisor)[0]), 4)

    def encode(self, request: Request, target: str) -> list[int]:
        """Encode; see `PageModel`."""
        return self._explorer.encode(request, target)

    def words(self, request: Request, prefix_ids: list[int]) -> Document:
        """Return choices; see `PageModel`."""
        choices = self._explorer.next_words(request, prefix_ids)
        return {"choices": [one.document() for one in choices]}


class StoryPageModel(TaskPageModel):
    """Task of a model that answers questions about stories."""

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Answer; see `PageModel`."""
        inspection = inspect_story(self._task, request)
        best = inspection.choices[:1]
        hypotheses = [{"text": one.text, "score": one.log_probability} for one in best]
        sentence = inspection.document() if best else None
        return {"hypotheses": hypotheses, "sentence": sentence}
