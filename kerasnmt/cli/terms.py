"""Options of the terms of translations, and their files."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.data.live_lines import lines_of

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


def read_glossary(path: Path, ignore_case: bool = False) -> Any:
    """Return the `kerasnmt.text.Glossary` of a file; several lines of a term are alternatives.

    Raises:
        ValueError: If a line has no tab between two terms, or another one.
    """
    from kerasnmt.text import Glossary
    from kerasnmt.text.term_lines import OR

    terms: dict[str, list[str]] = {}
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        source, *targets = (column.strip() for column in line.split("\t"))
        if not source or len(targets) != 1 or not targets[0]:
            raise ValueError(
                "Expected a source term, a tab and a target term in each line of a glossary, with "
                f"{OR} between alternatives. Received: {path}, line {number}: {line!r:.80}."
            )
        alternatives = [one for one in targets[0].split(OR) if one.strip()]
        try:
            Glossary({source: alternatives})
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        terms.setdefault(source, []).extend(alternatives)
    return Glossary(terms, ignore_case=ignore_case)
