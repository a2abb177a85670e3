"""Terms of a text in one line, without TensorFlow.

A line has the terms that a translation must contain, separated by tabs, and the alternatives of a
term, separated by "|". A term that must not occur begins with "!".
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kerasnmt.columns import without_surrogates
from kerasnmt.text.whole_words import occurs

SEPARATOR, OR, NOT = "\t", "|", "!"
# Terms of a line and alternatives of a term, and tokens of all terms of a line. Further ones are
# ignored, so that no line takes too much memory.
MOST_TERMS, MOST_TERM_TOKENS = 64, 512
_SPACES = " \t\n\v\f\r"


class Term(NamedTuple):
    """Term of a line.

    Attributes:
        alternatives: Texts, of which one must occur in the translation, or none.
        wanted: Whether one of them must occur.
    """

    alternatives: tuple[str, ...]
    wanted: bool


def parse_terms(line: str) -> list[Term]:
    """Return the terms of a line, without empty ones, and without those after `MOST_TERMS`."""
    terms = []
    for written in line.split(SEPARATOR)[:MOST_TERMS]:
        written = written.strip(_SPACES)
        texts = [text.strip(_SPACES) for text in written.removeprefix(NOT).split(OR)[:MOST_TERMS]]
        alternatives = tuple(filter(None, texts))
        if alternatives:
            terms.append(Term(alternatives, not written.startswith(NOT)))
    return terms


def term_line(terms: Sequence[str | Sequence[str]], forbidden: Sequence[str] = ()) -> str:
    """Write the terms of a text as a line.

    Args:
        terms: Terms that must occur: a text, or a list of alternatives, of which one must occur.
        forbidden: Texts that must not occur.

    Returns:
        The line.

    Raises:
        ValueError: If a term is empty, or has a character that separates terms.
    """
    rows = [term if isinstance(term, list | tuple) else [term] for term in terms]
    wanted = [[*map(_checked, row)] for row in rows]
    unwanted = [*map(_checked, forbidden)]
    if not all(wanted):
        raise ValueError("Expected at least one alternative for each term. Received: none.")
    written = [OR.join(term) for term in wanted]
    return SEPARATOR.join([*written, *(f"{NOT}{text}" for text in unwanted)])


def _checked(text: str) -> str:
    if not isinstance(text, str):
        raise ValueError(
            "Expected terms that are texts, or lists of texts. Received: a term "
            f"{text!r:.80}, of type {type(text).__name__}."
        )
    text = without_surrogates(text.strip())
    if not text or text.startswith(NOT) or {*text} & {*"\t\n\r", OR}:
        raise ValueError(
            "Expected terms that are not empty, do not begin with '!', and have no tab, line "
            f"break or '|'. Received: the term {text!r:.80}."
        )
    return text


def joined_lines(*lines: str) -> str:
    """Return one line with the terms of several lines, each term once."""
    return SEPARATOR.join(
        dict.fromkeys(one for line in lines for one in line.split(SEPARATOR) if one)
    )


def check_contradictions(line: str, of_text: str = "") -> None:
    """Check that each term of a line can occur without the texts that must not.

    Args:
        line: Terms.
        of_text: What the terms belong to, for the message, such as " of text 3".

    Raises:
        ValueError: If each alternative of a term contains, as whole words, a text that must not
            occur.
    """
    terms = parse_terms(line)
    forbidden = [one for term in terms if not term.wanted for one in term.alternatives]
    for term in terms if forbidden else ():
        texts = [unicodedata.normalize("NFC", one) for one in term.alternatives]
        inside = {one: unicodedata.normalize("NFC", one) for one in forbidden}
        found = [next((one for one in inside if occurs(inside[one], text)), "") for text in texts]
        if term.wanted and all(found):
            raise ValueError(
                "Expected terms that can occur without what is forbidden. Received: the term "
                f"{or_list(term.alternatives)}{of_text}, which must occur, and "
                f"{or_list(dict.fromkeys(found))}, which must not. Omit one of them, or add an "
                "alternative to the term."
            )


def or_list(texts: Iterable[str]) -> str:
    """Return texts in quotation marks, with "or" between them."""
    return " or ".join(map(repr, texts))


def unmet(line: str, text: str, written: Sequence[str] | None = None) -> list[tuple[Term, bool]]:
    """Return the terms of a line that a translation lacks, or has though they must not occur.

    Args:
        line: Terms.
        text: Translation.
        written: How the model writes each alternative of the line, in order, or "" if it cannot
            write it, except in place of unknown words. None if it writes them as they are.

    Returns:
        Pairs of a term, and whether the model can write one of its alternatives.
    """
    text = unicodedata.normalize("NFC", text)
    told = []
    start = 0
    for term in parse_terms(line):
        alternatives = term.alternatives
        end = start + len(alternatives)
        of_model = alternatives if written is None else [*filter(None, written[start:end])]
        start = end
        forms = (unicodedata.normalize("NFC", form) for form in (*alternatives, *of_model))
        if any(occurs(form, text) for form in forms) != term.wanted:
            told.append((term, bool(of_model)))
    return told
