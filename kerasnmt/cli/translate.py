"""`kerasnmt translate`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.lines import read_chunks
from kerasnmt.cli.loading import load_translator
from kerasnmt.cli.options import SearchOptions, WithRuns


def translate(
    model: Annotated[
        Path, typer.Argument(metavar="RUN_OR_EXPORT", help="Folder of a run, or of an export.")
    ],
    input: Annotated[
        Path | None, typer.Option("--input", help="File to translate.", show_default="stdin")
    ] = None,
    beam_size: Annotated[
        int | None,
        typer.Option("--beam-size", min=1, help="1 is greedy search.", show_default="the recipe's"),
    ] = None,
    search: SearchOptions = None,
    with_run: WithRuns = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add a tab and the length-normalised log-probability."),
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments", help="Add a tab and source-target pairs of words, counted from 0."
        ),
    ] = False,
    n_best: Annotated[
        int | None,
        typer.Option("--n-best", min=1, help="Write N lines a text: index ||| text ||| score."),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Translate lines of text, one translation a line, in order.

    Empty lines stay empty. A line with more tokens than the model takes is cut, with a warning.
    """
    if n_best is not None and (scores or alignments):
        raise ValueError(
            "Expected --n-best alone; it writes scores. Leave --scores and --alignments out."
        )
    console = progress_console()
    with console.status("loading the model"):
        translator = load_translator(model, beam_size, others=with_run, search=search)
    beam = translator.description["samples"] or translator.description["beam_size"]
    if n_best is not None and n_best > beam:
        raise ValueError(
            f"Expected --n-best of at most the beam size, {beam}. Received: --n-best {n_best}. "
            "Ask for fewer; of a run, a larger --beam-size gives more."
        )
    done = 0
    # A file can wait for some batches, which are then sorted by length; a pipe cannot.
    for chunk in read_chunks(input, batch_size * 16 if input else batch_size):
        options = {"batch_size": batch_size, "first_number": done + 1}
        if n_best is not None:
            lines = _ranked(translator.n_best(chunk, **options), n_best, done)
        else:
            lines = _best(translator, chunk, options, scores, alignments)
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
        done += len(chunk)
        if input and console.is_terminal and not sys.stdout.isatty():
            console.print(f"{done:,} lines", highlight=False, end="\r")


def _ranked(answers: list, n_best: int, done: int) -> Iterator[str]:
    for index, ranked in enumerate(answers, start=done):
        for translation, score in ranked[:n_best]:
            yield f"{index} ||| {translation} ||| {score:.6f}"


def _best(
    translator: Any, chunk: list[str], options: dict, scores: bool, alignments: bool
) -> Iterator[str]:
    best = translator.best(chunk, **options)
    attention = translator.attention(chunk, **options) if alignments else [None] * len(chunk)
    for (translation, score), attended in zip(best, attention, strict=True):
        columns = [translation]
        if scores:
            columns.append(f"{score:.6f}")
        if alignments:
            columns.append(_pharaoh(attended, translator.description))
        yield "\t".join(columns)


def _pharaoh(attended: Any, description: dict[str, Any]) -> str:
    from kerasnmt.text import word_indices
    from kerasnmt.viz import format_pharaoh, word_alignment

    links = word_alignment(
        attended.weights,
        word_indices(attended.source_tokens, description["source_kind"]),
        word_indices(attended.target_tokens, description["target_kind"]),
    )
    return format_pharaoh(links)
