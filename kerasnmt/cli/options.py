"""Options that several verbs have."""

from pathlib import Path
from typing import Annotated

import typer

SearchOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--search",
        metavar="KEY=VALUE",
        help="A search option in place of the recipe's, such as no_repeat_ngram=3; repeatable.",
    ),
]
WithRuns = Annotated[
    list[Path] | None,
    typer.Option("--with", metavar="RUN", help="Another run, for an ensemble; repeatable."),
]
