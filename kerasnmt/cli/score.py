"""`kerasnmt score`."""

from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import in_chunks, progress_console
from kerasnmt.cli.loading import load_run_translator
from kerasnmt.cli.options import Context, Tags, Trained, WithRuns
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.cli.requests import check_fields, checked_tags, read_lines, tagged, text_fields


def score(
    run: Trained,
    source: Annotated[Path, typer.Option("--source", help="File of sources, plain or compressed.")],
    target: Annotated[Path, typer.Option("--target", help="File of their translations.")],
    context: Context = None,
    tags: Tags = None,
    with_run: WithRuns = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Write the log-probability of each given translation, one per line.

    It is the natural logarithm of p(target | source), including the end token, and is not divided
    by the length.
    """
    load_tensorflow()
    from kerasnmt.data import read_parallel
    from kerasnmt.training import texts

    sources, targets = texts(read_parallel(source, target))
    contexts = read_lines("--context", context, len(sources))
    console = progress_console()
    with console.status("loading the model"):
        translator = load_run_translator(run, with_run)
    check_fields(translator.fields, text_fields(context))
    sources = tagged(sources, checked_tags(tags, translator))
    for *pairs, some in in_chunks(console, "scoring", batch_size, sources, targets, contexts):
        for log_probability in translator.score(*pairs, contexts=some, batch_size=batch_size):
            print(f"{log_probability:.6f}")
