"""`kerasnmt shortlist`."""

from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import keep_shortlist
from kerasnmt.cli.options import Columns
from kerasnmt.cli.pairs import PairFiles


def shortlist(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run or of a preset, to write to.")
    ],
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS",
            help="File of training pairs, with a source, a tab and a target per line, or .tsv, "
            ".csv or .jsonl with --columns.",
        ),
    ],
    columns: Columns = None,
    size: Annotated[
        int,
        typer.Option("--size", min=1, max=10_000, help="Likely target tokens of a source token."),
    ] = 50,
    frequent: Annotated[
        int,
        typer.Option("--frequent", min=0, help="Most frequent target tokens, for all sources."),
    ] = 100,
) -> None:
    """Make a vocabulary shortlist, with which `translate --shortlist` is faster.

    It has the most probable target tokens of each source token, by IBM model 1. The model of the
    run or of the preset keeps it.
    """
    rows = PairFiles(None, None, pairs, columns)
    console = progress_console()
    with console.status("making the shortlist"):
        made = keep_shortlist(
            run, [(one.source, one.target) for one in rows], size=size, frequent=frequent
        )
    pieces, found = made.table.any(axis=1).sum(), (made.table > 0).sum()
    console.print(
        f"{found:,} likely target tokens of {pieces:,} source tokens, and {len(made.frequent):,} "
        "frequent ones",
        highlight=False,
    )
