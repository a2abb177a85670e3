"""`kerasnmt score`."""

from collections.abc import Iterator
from typing import Annotated

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import load_run_translator
from kerasnmt.cli.options import Columns, Context, Tags, Trained, WithRuns
from kerasnmt.cli.pairs import Pair, PairFile, PairFiles, SourceFile, TargetFile
from kerasnmt.cli.records import FormatOption, Record
from kerasnmt.cli.requests import check_fields, checked_tags, read_lines, tagged, text_fields


def score(
    run: Trained,
    source: SourceFile = None,
    target: TargetFile = None,
    pairs: PairFile = None,
    columns: Columns = None,
    context: Context = None,
    tags: Tags = None,
    with_run: WithRuns = None,
    normalize: Annotated[
        bool,
        typer.Option(
            "--normalize", help="Divide by the number of target tokens, including the end token."
        ),
    ] = False,
    form: FormatOption = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Write the log-probability of each given translation, one per line.

    It is the natural logarithm of p(target | source), including the end token, and is not divided
    by the length, unless there is --normalize.
    """
    files = PairFiles(source, target, pairs, columns)
    contexts = read_lines("--context", context, files.count)
    console = progress_console()
    with console.status("loading the model"):
        translator = load_run_translator(run, with_run)
    check_fields(translator.fields, text_fields(context))
    start = checked_tags(tags, translator)

    def ask(chunk: list[Pair], rows: slice) -> Iterator[tuple[str, Record]]:
        scores = translator.score(
            tagged([one.source for one in chunk], start),
            [one.target for one in chunk],
            contexts=contexts and contexts[rows],
            normalize=normalize,
            batch_size=batch_size,
        )
        return ((f"{one:.6f}", {"score": round(one, 6)}) for one in scores)

    files.answer(console, "scoring", form, batch_size, ask)
