"""`kerasnmt score`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.filtering import Choice, write_good_pairs
from kerasnmt.cli.loading import load_run_translator
from kerasnmt.cli.options import Columns, Context, OptionalTrained, Tags, WithRuns
from kerasnmt.cli.pairs import Pair, PairFile, PairFiles, SourceFile, TargetFile
from kerasnmt.cli.parts import model_version
from kerasnmt.cli.records import FormatOption, Record
from kerasnmt.cli.requests import check_fields, checked_tags, read_lines, tagged, text_fields


def score(
    run: OptionalTrained = None,
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
    filter_pairs: Annotated[
        bool,
        typer.Option(
            "--filter", help="Write the good pairs of a corpus to --output instead of scores."
        ),
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="File of the kept pairs, .tsv, .csv or .jsonl, plain or .gz; with --filter. Twice "
            "for the sources and the targets.",
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option("--min-score", help="Drop pairs with a lower normalized score, such as -4."),
    ] = None,
    rank: Annotated[
        bool, typer.Option("--rank", help="Write the pairs with the best normalized scores first.")
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Add the normalized score to each kept pair.")
    ] = False,
    max_ratio: Annotated[
        float, typer.Option("--max-ratio", min=1.0, help="Largest ratio of the lengths.")
    ] = 3.0,
    scripts: Annotated[
        str | None,
        typer.Option(
            "--scripts",
            metavar="SOURCE,TARGET",
            help="Scripts of both sides, such as latin,han; any for all.",
            show_default="those of the first 10,000 pairs",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="RULE",
            help="Rule to disable: empty, equal, duplicate, ratio or script; repeatable.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="File of the report of --filter, in JSON."),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Write the log-probability of each given translation, one per line.

    It is the natural logarithm of p(target | source), including the end token, and is not divided
    by the length, unless there is --normalize.

    With --filter, it drops malformed lines, and pairs that are empty, equal on both sides,
    repeated, of very different lengths, or in other scripts than the corpus, and with a RUN and
    --min-score those that the model finds improbable. Run the command again to resume interrupted
    work.
    """
    choice = Choice(output or [], max_ratio, scripts, keep or [], min_score, rank, scores, report)
    if filter_pairs:
        choice.check()
        _check_filter(choice, run, form, context)
    elif choice != Choice([], 3.0, None, [], None, False, False, None):
        raise ValueError(
            "Expected --filter with --output, --min-score, --rank, --scores, --max-ratio, "
            "--scripts, --keep and --report."
        )
    elif run is None:
        raise ValueError("Expected RUN. Only --filter works without a model.")
    files = PairFiles(source, target, pairs, columns, drops_malformed=filter_pairs)
    contexts = read_lines("--context", context, files.count)
    console = progress_console()
    if run is None:
        write_good_pairs(files, choice, console, None, [])
        return
    with console.status("loading the model"):
        translator = load_run_translator(run, with_run)
    check_fields(translator.fields, text_fields(context))
    start = checked_tags(tags, translator)

    def scored(chunk: list[Pair], rows: slice, normalize: bool = normalize) -> list[float]:
        return translator.score(
            tagged([one.source for one in chunk], start),
            [one.target for one in chunk],
            contexts=contexts and contexts[rows],
            normalize=normalize,
            batch_size=batch_size,
        )

    def ask(chunk: list[Pair], rows: slice) -> Iterator[tuple[str, Record]]:
        return ((f"{one:.6f}", {"score": round(one, 6)}) for one in scored(chunk, rows))

    if not filter_pairs:
        files.answer(console, "scoring", form, batch_size, ask)
        return
    models = [str(one) for one in (run, *(with_run or ()))]
    work = [models, [*map(model_version, models)], start]
    write_good_pairs(files, choice, console, lambda some: scored(some, slice(0), True), work)


def _check_filter(choice: Choice, run: str | None, form: Any, context: Path | None) -> None:
    """Check that the options of `--filter` fit together."""
    if form is not None or context is not None:
        raise ValueError(
            "Expected --filter without --format, which the name of --output shows, and without "
            "--context."
        )
    if choice.needs_scores and run is None:
        raise ValueError("Expected RUN with --min-score, --rank and --scores.")
    if run is not None and not choice.needs_scores:
        raise ValueError(
            "Expected --min-score, --rank or --scores with RUN and --filter. Without them, the "
            "rules need no RUN."
        )
