"""Answers to the questions of the page: their base class, and an export's answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerasnmt.kinds import kind_of
from kerasnmt.serving.contract.export_contract import declared_contract
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.tasks.sentence_attention import SentenceAttention, decode, rounded
from kerasnmt.tasks.served_model import ABSENT_SCORE
from kerasnmt.text.parts import Parts
from kerasnmt.text.term_lines import check_contradictions, unmet

Request = dict[str, Any]
Document = dict[str, Any]


class PageModel:
    """Model behind the page.

    Requests are dicts of the fields. The documents are values for JSON.

    Attributes:
        inspects: Whether the model gives probabilities, continues chosen words, and scores a user's
            answers.
        takes_terms: Whether a request to search may have `terms`, a line of
            `kerasnmt.text.term_lines`.
        note: What the page says about the model, or an empty string.
    """

    inspects: bool = False
    takes_terms: bool = False
    note: str = ""

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields."""
        raise NotImplementedError

    @property
    def description(self) -> Mapping[str, Any]:
        """Facts about the model; see `kerasnmt.tasks.ServedModel`."""
        raise NotImplementedError

    def describe(self) -> Document:
        """Return what the page needs to know about the model."""
        kind = kind_of(self.fields)
        split = Parts.of(self.description)
        advice = f"Type one {split.unit}: this page reads the whole text as one." if split else ""
        return {
            "fields": [*kind.names],
            "widgets": {field.name: field.widget for field in kind.fields},
            "lead": kind.lead,
            "drawing": kind.drawing,
            "inspects": self.inspects,
            "terms": self.takes_terms,
            "note": f"{self.note} {advice}".strip(),
            "grid": self.description.get("grid"),
        }

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Return the `hypotheses`, best first, and the inspection of the best, the `sentence`.

        If the text was truncated, `truncated` is a message. If the best hypothesis does not fulfil
        the terms, `unmet` has messages.

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


class ExportPageModel(PageModel):
    """Export, which gives the best answers and their attention, but no choices.

    The export of a calibrated model gives the probabilities of the words.

    Args:
        current: The version of the export that is served.
    """

    note = (
        "This is an export, which gives the best answers and their attention. Serve the run or the "
        "preset instead to see the search, and other words."
    )

    def __init__(self, current: CurrentVersion) -> None:
        self._current = current

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields of the present version."""
        with self._current.borrowed() as app:
            return declared_contract(app.session.signatures).inputs

    @property
    def description(self) -> Mapping[str, Any]:
        """Description of the present version."""
        with self._current.borrowed() as app:
            return app.description

    @property
    def takes_terms(self) -> bool:
        """Whether the present version has a signature for terms; see `PageModel`."""
        with self._current.borrowed() as app:
            return "with_terms" in app.session.signatures

    def search(self, request: Request, prefix_ids: list[int]) -> Document:
        """Answer; see `PageModel`."""
        inputs = {name: [value] for name, value in request.items()}
        with self._current.borrowed() as app:
            session, description = app.session, app.description
            if "terms" in request:
                check_contradictions(request["terms"])
                answers = session.run("with_terms", inputs)
                del answers["written"]
                hypotheses = _hypotheses(answers)
                return {
                    "hypotheses": hypotheses,
                    "sentence": None,
                    "unmet": unmet_messages(request, hypotheses),
                }
            known = session.signatures
            name = "n_best" if "n_best" in known else "serving_default"
            answers = session.run(name, inputs)
            attended = session.run("attention", inputs) if "attention" in known else None
            judged = session.run("confidence", inputs) if "confidence" in known else None
        hypotheses = _hypotheses(answers)
        sentence = None
        if attended and hypotheses[0]["text"]:
            sentence = _sentence(attended, description)
            if judged:
                scores = judged["log_probability"][0, judged["target_tokens"][0] != b""]
                sentence["target"]["log_probability"] = rounded(scores)
                sentence["target"]["calibration"] = description.get("calibration")
        return {"hypotheses": hypotheses, "sentence": sentence}


def unmet_messages(request: Request, hypotheses: Sequence[Document]) -> list[str]:
    """Return messages about the terms of a request that the best hypothesis does not fulfil."""
    return [
        f"The answer {'lacks' if term.wanted else 'has'} {' or '.join(term.alternatives)}."
        for one in hypotheses[:1]
        for term, _ in unmet(request.get("terms", ""), one["text"])
    ]


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
