"""Terms of the translations of many texts."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from kerasnmt.columns import as_list, check_same_length
from kerasnmt.text.sentence_ends import split_text
from kerasnmt.text.term_lines import (
    MOST_TERMS,
    OR,
    SEPARATOR,
    term_line,
    unmet,
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


def sentences_of(texts: Sequence[str], bound: Sequence[Any], first_number: int) -> list[list[str]]:
    """Return the sentences of each text.

    Args:
        texts: Texts to translate.
        bound: Whether each translation must contain terms or begin with a prefix.
        first_number: Number of the first text in the error message.

    Raises:
        ValueError: If such a text has several sentences.
    """
    sentences = [*map(split_text, texts)]
    for number, (parts, is_bound) in enumerate(zip(sentences, bound, strict=True), first_number):
        if is_bound and len(parts) > 1:
            raise ValueError(
                "Expected one sentence in each text with terms or a prefix, because nothing says "
                f"to which one they belong. Received: {len(parts)} sentences in text {number}, "
                f"{texts[number - first_number]!r:.80}. Pass one sentence each, or translate with "
                "split_sentences=False (--search split_sentences=false)."
            )
    return sentences


def check_terms(lines: Sequence[str], description: Mapping[str, Any]) -> None:
    """Check that a model can search for terms.

    Args:
        lines: Line of terms of each text.
        description: Description of the model.

    Raises:
        ValueError: If it draws samples, or there are too many terms.
    """
    if description.get("samples"):
        raise ValueError(
            "Expected samples=0 with terms, because samples are drawn, not searched. Received: "
            f"samples={description['samples']}."
        )
    for line in lines:
        parts = line.split(SEPARATOR)
        most = max(len(parts), *(len(part.split(OR)) for part in parts))
        if most > MOST_TERMS:
            raise ValueError(
                f"Expected at most {MOST_TERMS} terms for a text, with at most {MOST_TERMS} "
                f"alternatives each. Received: {most} in {line!r:.80}."
            )


def warn_of_unmet(
    line: str, text: str, written: Sequence[str], number: int, stacklevel: int
) -> None:
    """Warn of terms that a translation lacks, or that occur though they must not.

    Args:
        line: Line of terms.
        text: Translation.
        written: How the model writes each alternative of the line; see `unmet`.
        number: Number of the text.
        stacklevel: See `warnings.warn`, counted from the caller.
    """
    for term, known in unmet(line, text, written):
        name = " or ".join(map(repr, term.alternatives))
        if not term.wanted:
            reason = f"has {name}, which must not occur"
        elif not known:
            reason = f"lacks {name}, which has words or characters that the model cannot write"
        else:
            reason = (
                f"lacks {name}, because its terms are too many, do not fit into its maximum length "
                "or contradict each other"
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
