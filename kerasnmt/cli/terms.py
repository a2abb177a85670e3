"""Options of the terms of translations, and their files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.data.live_lines import lines_of
from kerasnmt.text.term_lines import NOT, OR, SEPARATOR, term_line

TermsFile = Annotated[
    Path | None,
    typer.Option(
        "--terms",
        metavar="FILE",
        help="File with the terms that each translation must contain, one line per text; an empty "
        "line for none. Tabs separate terms, | separates alternatives, and ! stands before a term "
        "that must not occur.",
    ),
]
GlossaryFile = Annotated[
    Path | None,
    typer.Option(
        "--glossary",
        metavar="FILE",
        help="File of a source term, a tab and the target term that its translations must contain, "
        "with alternatives separated by |.",
    ),
]
IgnoreCase = Annotated[
    bool,
    typer.Option("--ignore-case", help="Find the source terms of --glossary in any letter case."),
]


LexiconFile = Annotated[
    Path | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="File of a text, a tab and its translation, which is written in place of the model's; "
        "for words, if the model translates word by word.",
    ),
]


def read_terms(path: Path) -> Iterator[str]:
    """Yield the lines of a file of terms.

    Raises:
        ValueError: If a term has an empty alternative, or a "!" elsewhere than at its start.
    """
    for number, line in enumerate(lines_of(path), start=1):
        try:
            for term in filter(str.strip, line.split(SEPARATOR)):
                term_line([term.strip().removeprefix(NOT).split(OR)])
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        yield line


def read_glossary(path: Path, ignore_case: bool = False) -> Any:
    """Return the `kerasnmt.text.Glossary` of a file; several lines of a term are alternatives.

    Raises:
        ValueError: If a line has no tab between two terms, or another one, or a term is malformed.
    """
    from kerasnmt.text import Glossary

    terms: dict[str, list[str]] = {}
    for number, source, target in _two_columns(path, f"a target term, with {OR} between several,"):
        alternatives = target.split(OR)
        try:
            Glossary({source: alternatives})
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        terms.setdefault(source, []).extend(alternatives)
    return Glossary(terms, ignore_case=ignore_case)


def read_lexicon(path: Path) -> dict[str, str]:
    """Return the translations of a file by their texts; of several, the first.

    Raises:
        ValueError: If a line has no tab between two texts, or another one.
    """
    lexicon: dict[str, str] = {}
    for _, source, target in _two_columns(path, "its translation"):
        lexicon.setdefault(source, target)
    return lexicon


def _two_columns(path: Path, second: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number and both columns of each line that is not blank."""
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        source, *targets = (column.strip() for column in line.split("\t"))
        if not source or len(targets) != 1 or not targets[0]:
            raise ValueError(
                f"Expected a text, a tab and {second} in each line. Received: {path}, line "
                f"{number}: {line!r:.80}."
            )
        yield number, source, targets[0]
