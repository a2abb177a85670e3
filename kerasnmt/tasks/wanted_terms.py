"""Terms of the translations of many texts."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kerasnmt.columns import as_list, check_same_length, first_few
from kerasnmt.text.parts import Parts
from kerasnmt.text.term_lines import (
    MOST_TERMS,
    OR,
    SEPARATOR,
    check_contradictions,
    or_list,
    term_line,
    unmet,
)

# Reasons of warnings.
_OCCURS = "translations have what must not occur"
_UNKNOWN = "translations lack terms with words or characters that the model cannot write"
_TOO_LONG = (
    "translations lack terms that do not fit into their maximum length, or contradict each other"
)

TermLists = Sequence[Sequence[str | Sequence[str]] | None]


def term_lines(
    count: int,
    terms: TermLists | None = None,
    forbidden: Sequence[Sequence[str] | None] | None = None,
) -> list[str]:
    """Return a line of terms for each of a number of texts; see `kerasnmt.text.term_lines`.

    Args:
        count: Number of texts.
        terms: Terms of each translation, or None: a list of texts and of lists of alternatives.
        forbidden: Texts that must not occur in each translation, or None.

    Raises:
        ValueError: If the numbers of lists and texts differ, or a list or a term is malformed.
    """
    wanted, unwanted = (
        _lists(name, column, count) for name, column in (("terms", terms), ("forbidden", forbidden))
    )
    return [term_line(*pair) for pair in zip(wanted, unwanted, strict=True)]


class Sentence(NamedTuple):
    """Sentence to translate with terms, or a whole text.

    Attributes:
        text: Index of its text.
        line: Line of its terms.
    """

    text: int
    line: str


def checked_parts(
    texts: Sequence[str],
    bound: Sequence[Any],
    split: Parts | None,
    first_number: int,
    which: str = "with terms or a prefix, because nothing says to which one they belong",
) -> list[list[str]]:
    """Return the parts of each text that are translated one by one.

    Args:
        texts: Texts to translate.
        bound: Whether each text must be one part.
        split: Split of the texts, or None if each text is one part.
        first_number: Number of the first text in the error message.
        which: Texts that must be one part, for the error message.

    Raises:
        ValueError: If a bound text has several parts.
    """
    found = [split.split(text) if split else [text] for text in texts]
    for number, (parts, is_bound) in enumerate(zip(found, bound, strict=True), first_number):
        if is_bound and len(parts) > 1:
            unit = split.unit if split else "text"
            raise ValueError(
                f"Expected one {unit} in each text {which}. Received: {len(parts)} {unit}s in text "
                f"{number}, {texts[number - first_number]!r:.80}. Pass one {unit} each, or "
                f"split_{unit}s=False (--search split_{unit}s=false)."
            )
    return found


def check_terms(
    sentences: Sequence[Sentence], description: Mapping[str, Any], first_number: int
) -> None:
    """Check that a model can search for terms.

    Args:
        sentences: Sentences with their terms.
        description: Description of the model.
        first_number: Number of the first text in messages.

    Raises:
        ValueError: If it draws samples, there are too many terms, or they contradict each other.
    """
    if description.get("samples"):
        raise ValueError(
            "Expected samples=0 with terms, because samples are drawn, not searched. Received: "
            f"samples={description['samples']}."
        )
    for number, line in {(first_number + one.text, one.line): None for one in sentences}:
        parts = line.split(SEPARATOR)
        most = max(len(parts), *(len(part.split(OR)) for part in parts))
        if most > MOST_TERMS:
            raise ValueError(
                f"Expected at most {MOST_TERMS} terms for a text, with at most {MOST_TERMS} "
                f"alternatives each. Received: {most} in {line!r:.80}."
            )
        check_contradictions(line, f" of text {number}")


def warn_of_unmet(
    answers: Iterable[tuple[Sentence, str, Sequence[str]]], first_number: int
) -> None:
    """Warn of terms that translations lack, or that occur though they must not.

    There is one warning for each reason.

    Args:
        answers: Sentences, their translations, and how the model writes each alternative of their
            lines; see `unmet`.
        first_number: Number of the first text.
    """
    reasons: dict[str, list[str]] = {}
    for sentence, translation, written in answers:
        for term, known in unmet(sentence.line, translation, written):
            reason = _OCCURS if not term.wanted else _TOO_LONG if known else _UNKNOWN
            number = first_number + sentence.text
            told = f"{or_list(term.alternatives):.80} of text {number}"
            reasons.setdefault(reason, []).append(told)
    for reason, of_reason in reasons.items():
        warnings.warn(f"{reason}: {first_few(of_reason)}", stacklevel=6)


def _lists(name: str, column: Any, count: int) -> list[Sequence]:
    """Return a list of terms for each text."""
    if column is None:
        return [()] * count
    rows = as_list(name, column, "lists, one for each text")
    check_same_length(name, rows, "texts", count)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str | bytes | Mapping):
            raise ValueError(
                f"Expected a list of terms for each text in {name}. Received: {row!r:.80} for text "
                f"{number}. Write [[…], […]], with [] for a text without terms."
            )
    return [() if row is None else [*row] for row in rows]
