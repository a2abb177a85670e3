"""Terms of the translations of many texts."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from kerasnmt.columns import as_list, check_same_length
from kerasnmt.text.glossary import Glossary
from kerasnmt.text.term_lines import joined_lines, parse_terms, term_line, unmet

TermLists = Sequence[Sequence[str | Sequence[str]] | None]


def term_lines(
    texts: Sequence[str],
    terms: TermLists | None = None,
    forbidden: Sequence[Sequence[str] | None] | None = None,
    glossary: Glossary | Mapping[str, Any] | None = None,
) -> list[str]:
    """Return a line of terms for each text; see `kerasnmt.text.term_lines`.

    Args:
        texts: Texts to translate.
        terms: Terms of each translation, or None: a list of texts and of lists of alternatives.
        forbidden: Texts that must not occur in each translation, or None.
        glossary: Glossary that applies to all texts, or None.

    Raises:
        ValueError: If the numbers of lists and texts differ, or a list or a term is malformed.
    """
    wanted, unwanted = (
        _lists(name, column, len(texts))
        for name, column in (("terms", terms), ("forbidden", forbidden))
    )
    if glossary is not None and not isinstance(glossary, Glossary):
        glossary = Glossary(glossary)
    return [
        joined_lines(term_line(one, other), glossary.line(text) if glossary else "")
        for text, one, other in zip(texts, wanted, unwanted, strict=True)
    ]


def check_terms(lines: Sequence[str], description: Mapping[str, Any]) -> None:
    """Check that a model can search for terms.

    Args:
        lines: Line of terms of each text.
        description: Description of the model.

    Raises:
        ValueError: If it draws samples, splits texts into sentences, or is greedy though terms must
            occur.
    """
    if description.get("samples"):
        raise ValueError(
            "Expected samples=0 with terms, because samples are drawn, not searched. Received: "
            f"samples={description['samples']}."
        )
    if description.get("split_sentences"):
        raise ValueError(
            "Expected split_sentences=False with terms, because nothing says in which sentence "
            "they belong. Received: split_sentences=True. Translate each sentence as a text."
        )
    wanted = any(term.wanted for line in lines for term in parse_terms(line))
    if wanted and description.get("beam_size") == 1:
        raise ValueError(
            "Expected a beam_size of at least 2 with terms that must occur, because one hypothesis "
            "cannot wait for the place of a term. Received: beam_size=1."
        )


def warn_of_unmet(
    lines: Sequence[str],
    answers: Sequence[tuple[str, Sequence[str]]],
    first_number: int,
    stacklevel: int,
) -> None:
    """Warn of terms that translations lack, or that occur though they must not.

    Args:
        lines: Line of terms of each text.
        answers: Translation of each text, and how the model writes its alternatives; see `unmet`.
        first_number: Number of the first text.
        stacklevel: See `warnings.warn`, counted from the caller.
    """
    for number, (line, (text, written)) in enumerate(
        zip(lines, answers, strict=True), start=first_number
    ):
        for term, known in unmet(line, text, written):
            name = " or ".join(map(repr, term.alternatives))
            if not term.wanted:
                reason = f"has {name}, which must not occur"
            elif not known:
                reason = f"lacks {name}, which has words or characters that the model cannot write"
            else:
                reason = (
                    f"lacks {name}, because its terms do not fit into its maximum length or "
                    "contradict each other"
                )
            warnings.warn(f"the translation of text {number} {reason}", stacklevel=stacklevel + 1)


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
