"""Answers to the questions of the page, from a task or from an export."""

import base64
import binascii
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kerasnmt.decoding import length_penalty
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.tasks.answering import AnsweringTask
from kerasnmt.tasks.explorer import Explorer, inspect_story
from kerasnmt.tasks.search_task import SearchTask
from kerasnmt.tasks.sentence_attention import SentenceAttention, decode
from kerasnmt.tasks.served_model import ABSENT_SCORE

Request = dict[str, Any]
Document = dict[str, Any]


class PageModel:
    """Model behind the page.

    Requests are dicts of the fields. The documents are values for JSON.

    Attributes:
        inspects: Whether the model gives probabilities, continues chosen words, and scores a user's
            answers.
        note: What the page says about the model, or an empty string.
    """

    inspects: bool = False
    note: str = ""

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields."""
        raise NotImplementedError

    def describe(self) -> Document:
        """Return what the page needs to know about the model."""
        kinds = {"image": "caption", "question": "story"}
        kind = next((kinds[field] for field in self.fields if field in kinds), "translation")
        return {
            "fields": [*self.fields],
            "kind": kind,
            "inspects": self.inspects,
            "note": self.note,
        }

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Return the `hypotheses`, best first, and the inspection of the best, the `sentence`.

        If the text was truncated, `truncated` is a message.

        Args:
            request: The request.
            prefix_ids: Ids with which each answer must begin.
        """
        raise NotImplementedError

    def inspect(self, request: Request, target_ids: list[int]) -> Document:
        """Return what the model thinks of an answer with these ids."""
        raise NotImplementedError

    def encode(self, request: Request, target: str) -> list[int]:
        """Return the ids of a user's answer, with the end token."""
        raise NotImplementedError

    def words(self, request: Request, prefix_ids: list[int]) -> Document:
        """Return the most probable words after a prefix, the `choices`."""
        raise NotImplementedError


class SearchPageModel(PageModel):
    """Task of a model that translates or captions.

    Args:
        task: The task.
    """

    inspects = True

    def __init__(self, task: SearchTask) -> None:
        self._task, self._explorer = task, Explorer(task)

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields."""
        return self._task.fields

    def describe(self) -> Document:
        """Return what the page needs to know; see `PageModel`."""
        return {**super().describe(), "grid": self._task.description.get("grid")}

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Search; see `PageModel`."""
        found = self._explorer.search(request, prefix_ids)
        best = found.ids[0] if found.ids else []
        sentence = self.inspect(request, best) if best else None
        truncated = self._explorer.truncated(request)
        return {**found.document(), "sentence": sentence, "truncated": truncated}

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


class StoryPageModel(PageModel):
    """Task of a model that answers questions about stories.

    Args:
        task: The task.
    """

    def __init__(self, task: AnsweringTask) -> None:
        self._task = task

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields."""
        return self._task.fields

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Answer; see `PageModel`."""
        inspection = inspect_story(self._task, request)
        best = inspection.choices[:1]
        hypotheses = [{"text": one.text, "score": one.log_probability} for one in best]
        sentence = inspection.document() if best else None
        return {"hypotheses": hypotheses, "sentence": sentence}


class ExportPageModel(PageModel):
    """Export, which gives the best answers and their attention, but no probabilities.

    Args:
        current: The version of the export that is served.
        read: Function that reads the description of a version, from its number.
    """

    note = (
        "This is an export, which gives the best answers and their attention. Serve the run or the "
        "preset instead to see probabilities, the search, and other words."
    )

    def __init__(self, current: CurrentVersion, read: Callable[[int], Mapping[str, Any]]) -> None:
        self._current, self._read = current, functools.cache(read)

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields of the present version."""
        return self._read(self._current.version)["inputs"]

    def describe(self) -> Document:
        """Return what the page needs to know; see `PageModel`."""
        return {**super().describe(), "grid": self._read(self._current.version).get("grid")}

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Answer; see `PageModel`."""
        inputs = {name: [value] for name, value in request.items()}
        with self._current.borrowed() as app:
            session, description = app.session, self._read(app.version)
            known = session.signatures
            name = "n_best" if "n_best" in known else "serving_default"
            answers = session.run(name, inputs)
            attended = session.run("attention", inputs) if "attention" in known else None
        hypotheses = _hypotheses(answers)
        sentence = None
        if attended and hypotheses[0]["text"]:
            sentence = _sentence(attended, description)
        return {"hypotheses": hypotheses, "sentence": sentence}


def page_model_of(task: AnsweringTask | SearchTask) -> PageModel:
    """Return the page model of a task."""
    return StoryPageModel(task) if isinstance(task, AnsweringTask) else SearchPageModel(task)


def _sentence(outputs: dict[str, np.ndarray], description: Mapping[str, Any]) -> Document:
    """Return the attention of one request, from the outputs of the signature of an export."""
    kinds = description.get("source_kind"), description.get("target_kind")
    grid = description.get("grid")
    if grid is not None:
        names = [str(region).encode() for region in range(grid[0] * grid[1])]
        outputs = {**outputs, "source_tokens": np.array([names], object)}
    (attended,) = SentenceAttention.of_batch(outputs, kinds)
    document = attended.document()
    document["sources"][0]["grid"] = grid
    return document


def _hypotheses(answers: dict[str, np.ndarray]) -> list[Document]:
    """Return the answers to one request, best first."""
    (name,) = answers.keys() - {"score", "scores"}
    scores = answers["scores" if "scores" in answers else "score"]
    ranked = zip(np.ravel(answers[name]), np.ravel(scores).tolist(), strict=True)
    return [
        {"text": decode(text), "score": score} for text, score in ranked if score > ABSENT_SCORE / 2
    ]


def image_bytes(text: str) -> bytes:
    """Return the contents of an image in base64.

    Raises:
        ValueError: If the text is not base64.
    """
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("Expected an image in base64. Received: other characters") from error
