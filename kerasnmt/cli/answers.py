"""What `kerasnmt translate` asks and writes about each row of a request."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kerasnmt.cli.confidence import confidence_fields, warn_without_calibration, written_words
from kerasnmt.cli.records import Format, Record
from kerasnmt.cli.tokens import token_kinds
from kerasnmt.kinds import kind_of
from kerasnmt.text.parts import Parts

# How fields of answers are written in lines of text.
_CELLS: dict[str, Callable[[Any], str]] = {
    "score": "{:.6f}".format,
    "confidence": "{:.4f}".format,
    "words": written_words,
}
# Options that need texts, and those that do not go with them, for a reason.
_LISTS = ("--n-best", "--alignments", "--confidence")
_CONFLICTS = {
    "--n-best": (("--scores", "--alignments"), "it writes translations and always their scores"),
    "--prefix": (_LISTS, "it gives the best translation alone"),
    "--terms": (_LISTS, "it gives the best translation alone"),
    "--glossary": (_LISTS, "it gives the best translation alone"),
    "--lexicon": (_LISTS, "it gives the best translation alone"),
    "--stream": (
        (*_LISTS, "--scores", "--terms", "--glossary", "--columns", "--format"),
        "it writes nothing but the translations",
    ),
    "--alignments": ((), ""),
    "--confidence": ((), ""),
}


def check_options(fields: Sequence[str], values: Mapping[str, Any]) -> None:
    """Check that the options of answers fit together, and fit requests with these fields.

    Args:
        fields: Names of the fields.
        values: Value of each option; those with a true value are given.

    Raises:
        ValueError: If two options do not fit together, or an option needs texts.
    """
    given = [name for name, value in values.items() if value]
    for option, (others, reason) in _CONFLICTS.items():
        both = [name for name in given if name in others]
        if option in given and both:
            raise ValueError(f"Expected {option} without {' and '.join(both)}, because {reason}.")
    about_texts = [name for name in given if name in _CONFLICTS]
    if about_texts and not kind_of(fields).translates:
        raise ValueError(
            f"Expected texts with {' and '.join(about_texts)}. Received: {' and '.join(fields)}."
        )


class Answers(NamedTuple):
    """Answers to each row of a request, as a command asks for them.

    Attributes:
        name: Name of an answer in records.
        scores: Whether to add the score of the best answer.
        alignments: Whether to add the alignment of the best translation.
        n_best: Number of translations of each text, with scores, or None for the best answer.
        confidence: Whether to add the probabilities of the translations and their words.
        glossary: A `kerasnmt.text.Glossary` of the translations, or None.
    """

    name: str
    scores: bool
    alignments: bool
    n_best: int | None
    confidence: bool
    glossary: Any

    def check_model(self, description: Mapping[str, Any]) -> None:
        """Check that N is at most the beam size, unless a server does not describe it.

        An alignment belongs to a whole text, and confidence to its sentences if they are split.
        """
        if self.alignments and self.confidence and (split := Parts.of(description)):
            parts = "words" if split.words else "sentences"
            raise ValueError(
                "Expected --confidence without --alignments, because this model splits texts into "
                f"{parts}. Add --search split_{parts}=false, or omit one of them."
            )
        n_best = self.n_best or 0
        beam = description.get("samples") or description.get("beam_size", n_best)
        if n_best > beam:
            raise ValueError(
                f"Expected at most {beam}, the beam size, for --n-best. Received: --n-best "
                f"{n_best}. Choose a smaller number or, for a run, a larger --beam-size."
            )

    def of(self, translator: Any, request: dict[str, list], **options: Any) -> list[list[dict]]:
        """Return the answers to each row of a request, best first.

        Args:
            translator: A `kerasnmt.tasks.Translator`.
            request: The rows, and perhaps columns of prefixes and of terms.
            **options: Options of the methods of the translator.
        """
        ask = self._confident if self.confidence else self._scored
        rows = [row[: self.n_best] for row in ask(translator, request, options)]
        if self.alignments:
            rows = [*self._aligned(translator, request, rows, options)]
        if not (self.scores or self.n_best):
            for row in rows:
                for answer in row:
                    del answer["score"]
        return rows

    def _scored(
        self, translator: Any, request: dict[str, list], options: Mapping[str, Any]
    ) -> list[list[dict]]:
        if self.n_best is not None:
            rows = translator.n_best(**_texts(request), **options)
        elif self.alignments:
            rows = [[one] for one in translator.best_as_a_whole(**_texts(request), **options)]
        elif self.glossary is not None or "terms" in request:
            terms = request.pop("terms", [""] * len(request["text"]))
            best = translator.with_terms(request, terms, self.glossary, **options)
            rows = [[one] for one in best]
        else:
            rows = [[one] for one in translator.ask(request, **options)]
        return [[{self.name: text, "score": score} for text, score in row] for row in rows]

    def _confident(
        self, translator: Any, request: dict[str, list], options: Mapping[str, Any]
    ) -> list[list[dict]]:
        if self.n_best is not None:
            rows = translator.n_best_confidence(**_texts(request), **options)
        else:
            rows = [[one] for one in translator.confidence(**_texts(request), **options)]
        warn_without_calibration([one for row in rows for one in row])
        return [
            [{self.name: one.text, "score": one.score, **confidence_fields(one)} for one in row]
            for row in rows
        ]

    def _aligned(
        self,
        translator: Any,
        request: dict[str, list],
        rows: list[list[dict]],
        options: Mapping[str, Any],
    ) -> Iterator[list[dict]]:
        """Yield the best answers with their alignments, which follow the scores."""
        from kerasnmt.alignment import format_pharaoh

        attention = translator.attention(**_texts(request), **options)
        for text, (answer,), one in zip(request["text"], rows, attention, strict=True):
            kinds = token_kinds(translator.description, text, answer[self.name], one)
            links = format_pharaoh(one.alignment(*kinds))
            first = {name: answer[name] for name in (self.name, "score")}
            yield [{**first, "alignment": links, **answer}]

    def lines(self, rows: list[list[dict]], done: int) -> Iterator[str]:
        """Yield lines of text, after the rows that are done."""
        between = "\t" if self.n_best is None else " ||| "
        for index, answers in enumerate(rows, start=done):
            front = [] if self.n_best is None else [str(index)]
            for answer in answers:
                cells = (_CELLS.get(name, str)(value) for name, value in answer.items())
                yield between.join([*front, *cells]) + "\n"

    def records(
        self, rows: list[list[dict]], records: list[Record], form: Format
    ) -> Iterator[tuple[Record, Record]]:
        """Yield the records of the input with their answers.

        In JSON, several translations of a text are a list. In TSV and CSV, each has a line.
        """
        for record, answers in zip(records, rows, strict=True):
            rounded = [
                {name: round(one, 6) if name == "score" else one for name, one in answer.items()}
                for answer in answers
            ]
            if self.n_best is not None and form is Format.JSON:
                yield record, {"n_best": rounded}
                continue
            for rank, answer in enumerate(rounded, start=1):
                yield record, {"rank": rank, **answer} if self.n_best is not None else answer


def _texts(request: Mapping[str, list]) -> dict[str, Any]:
    return {"texts": request["text"], "contexts": request.get("context")}
