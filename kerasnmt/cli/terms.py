"""Options of the terms of translations, and their files."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

TermsFile = Annotated[
    Path | None,
    typer.Option(
        "--terms",
        metavar="FILE",
        help="File with the terms that each translation must contain, a line for each text: terms "
        "separated by tabs, alternatives by |, and ! before a term that must not occur.",
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


class WantedTerms:
    """Terms of the texts of a command.

    Args:
        terms: File of `--terms`, or None.
        glossary: File of `--glossary`, or None.
        ignore_case: Whether the glossary ignores the case of source terms.

    Attributes:
        glossary: The glossary, a `kerasnmt.text.Glossary`, or None.

    Raises:
        ValueError: If a file cannot be read, or `ignore_case` has no glossary.
    """

    def __init__(self, terms: Path | None, glossary: Path | None, ignore_case: bool) -> None:
        if ignore_case and glossary is None:
            raise ValueError("Expected --glossary FILE with --ignore-case.")
        self._path, self._done = terms, 0
        self._lines: Iterator[str] | None = None if terms is None else _lines(terms)
        self.glossary = None if glossary is None else read_glossary(glossary, ignore_case)

    def __bool__(self) -> bool:
        return self._lines is not None or self.glossary is not None

    def check(self, fields: Sequence[str], others: Sequence[str]) -> None:
        """Check that there are texts to translate, and no options that need other answers.

        Args:
            fields: Fields of the requests.
            others: Options that are given, of which none goes with terms.

        Raises:
            ValueError: If an option does not fit.
        """
        if self and ("text" not in fields or others):
            received = " and ".join(others or fields)
            remedy = f" Omit {received}, or translate without terms." if others else ""
            raise ValueError(
                "Expected texts, and the best translation of each, with --terms and --glossary. "
                f"Received: {received}.{remedy}"
            )

    def of(self, texts: Sequence[str]) -> list[str]:
        """Return the line of terms of each of the next texts, without those of the glossary.

        Raises:
            ValueError: If the file of terms has fewer lines.
        """
        if self._lines is None:
            return [""] * len(texts)
        lines = [*islice(self._lines, len(texts))]
        self._done += len(lines)
        if len(lines) < len(texts):
            self._refuse(f"{self._done:,} lines, fewer than there are texts")
        return lines

    def finish(self) -> None:
        """Check that no lines are left when all texts are translated.

        Raises:
            ValueError: If the file of terms has more lines.
        """
        if self._lines is not None and next(self._lines, None) is not None:
            self._refuse(f"more than {self._done:,} lines, the number of texts")

    def _refuse(self, received: str) -> None:
        raise ValueError(
            f"Expected one line of --terms for each text. Received: {self._path} with {received}. "
            "A text without terms has an empty line."
        )


def read_glossary(path: Path, ignore_case: bool = False) -> Any:
    """Return the `kerasnmt.text.Glossary` of a file; several lines of a term are alternatives.

    Raises:
        ValueError: If a line has no tab between two terms, or another one.
    """
    from kerasnmt.text import Glossary
    from kerasnmt.text.term_lines import OR

    terms: dict[str, list[str]] = {}
    for number, line in enumerate(_lines(path), start=1):
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


def _lines(path: Path) -> Iterator[str]:
    from kerasnmt.data.live_lines import read_chunks

    return (line for chunk in read_chunks(path, 1000) for line in chunk)
