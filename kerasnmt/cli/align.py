"""`kerasnmt align`."""

from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import in_chunks, progress_console
from kerasnmt.cli.loading import load_run_translator
from kerasnmt.cli.options import Context, Tags, Trained
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.cli.requests import check_fields, checked_tags, read_lines, tagged, text_fields


def align(
    run: Trained,
    source: Annotated[Path, typer.Option("--source", help="File of sources, plain or compressed.")],
    target: Annotated[Path, typer.Option("--target", help="File of their translations.")],
    context: Context = None,
    tags: Tags = None,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", help="File of reference alignments; prints the error rate."),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Align the words of sentences with the words of given translations, by attention.

    Writes one line for each pair of sentences, with source-target pairs of word positions, which
    start at 0. A file for --gold has the same form, with 1p2 for a possible link. With --gold, the
    alignment error rate is written to standard error.
    """
    load_tensorflow()
    from kerasnmt.alignment import alignment_error_rate, format_pharaoh, parse_pharaoh_lines
    from kerasnmt.data import read_parallel
    from kerasnmt.training import texts

    sources, targets = texts(read_parallel(source, target))
    contexts = read_lines("--context", context, len(sources))
    if gold is not None:
        lines = texts(read_parallel(gold, gold))[0]
        if len(lines) != len(sources):
            raise ValueError(
                f"Expected one line of --gold for each of {len(sources)} pairs. "
                f"Received: {gold} with {len(lines)} lines."
            )
        truth = parse_pharaoh_lines(lines, str(gold))
    console = progress_console()
    with console.status("loading the model"):
        translator = load_run_translator(run)
    check_fields(translator.fields, text_fields(context))
    sources = tagged(sources, checked_tags(tags, translator))
    links = []
    for *pairs, some in in_chunks(console, "aligning", batch_size, sources, targets, contexts):
        alignments = translator.align(*pairs, contexts=some, batch_size=batch_size)
        for one in alignments:
            print(format_pharaoh(one))
        links += alignments
    if gold is not None:
        rate = alignment_error_rate(links, *zip(*truth, strict=True))
        console.print(
            f"alignment error rate {rate:.4f} on {len(links):,} sentence pairs", highlight=False
        )
