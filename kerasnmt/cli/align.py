"""`kerasnmt align`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import load_run_translator
from kerasnmt.cli.options import Columns, Context, Tags, Trained
from kerasnmt.cli.pairs import Pair, PairFile, PairFiles, SourceFile, TargetFile
from kerasnmt.cli.records import FormatOption, Record
from kerasnmt.cli.requests import check_fields, checked_tags, read_lines, tagged, text_fields


def align(
    run: Trained,
    source: SourceFile = None,
    target: TargetFile = None,
    pairs: PairFile = None,
    columns: Columns = None,
    context: Context = None,
    tags: Tags = None,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", help="File of reference alignments; prints the error rate."),
    ] = None,
    form: FormatOption = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Align the words of sentences with the words of given translations, by attention.

    Writes one line for each pair of sentences, with source-target pairs of word positions, which
    start at 0. A file for --gold has the same form, with 1p2 for a possible link. With --gold, the
    alignment error rate is written to standard error.
    """
    from kerasnmt.alignment import alignment_error_rate, format_pharaoh, parse_pharaoh_lines

    files = PairFiles(source, target, pairs, columns)
    contexts = read_lines("--context", context, files.count)
    if gold is not None:
        lines = read_lines("--gold", gold, files.count) or []
        truth = parse_pharaoh_lines(lines, str(gold))
    console = progress_console()
    with console.status("loading the model"):
        translator = load_run_translator(run)
    check_fields(translator.fields, text_fields(context))
    start = checked_tags(tags, translator)
    links: list[list[tuple[int, int]]] = []

    def ask(chunk: list[Pair], rows: slice) -> Iterator[tuple[str, Record]]:
        alignments = translator.align(
            tagged([one.source for one in chunk], start),
            [one.target for one in chunk],
            contexts=contexts and contexts[rows],
            batch_size=batch_size,
        )
        if gold is not None:
            links.extend(alignments)
        return ((line, {"alignment": line}) for line in map(format_pharaoh, alignments))

    files.answer(console, "aligning", form, batch_size, ask)
    if gold is not None:
        rate = alignment_error_rate(links, *zip(*truth, strict=True))
        console.print(
            f"alignment error rate {rate:.4f} on {len(links):,} sentence pairs", highlight=False
        )
