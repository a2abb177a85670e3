"""`kerasnmt translate`."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.lines import read_chunks
from kerasnmt.cli.loading import connect_translator, load_translator
from kerasnmt.cli.options import SearchOptions, WithRuns
from kerasnmt.cli.tokens import token_kind


def translate(
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="RUN_OR_EXPORT", help="Folder of a run, or of an export."),
    ] = None,
    input: Annotated[
        Path | None, typer.Option("--input", help="File to translate.", show_default="stdin")
    ] = None,
    context: Annotated[
        Path | None,
        typer.Option(
            "--context",
            metavar="FILE",
            help="For models that read one beside each line: its contexts, line by line.",
        ),
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
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="A TF Serving server in place of the folder: http://host:8501, or "
            "grpc://host:8500.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model's name on the server.")
    ] = None,
    version: Annotated[
        int | None,
        typer.Option("--version", min=0, help="Its version.", show_default="the server's choice"),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", metavar="SECONDS", help="For each of its answers.", show_default="60"
        ),
    ] = None,
) -> None:
    """Translate lines of text from standard input or a file, one translation a line, in order.

    Empty lines stay empty. A line with more tokens than the model takes is cut, with a warning
    unless a server does it.
    """
    if (directory is None) == (server is None):
        raise ValueError("Expected either RUN_OR_EXPORT or --server URL.")
    if server is None and (model, version, timeout) != (None, None, None):
        raise ValueError("Expected --model, --version and --timeout with --server URL only.")
    fixed = beam_size is not None or search or with_run
    if server is not None and model is None:
        raise ValueError("Expected --model NAME with --server URL, the model's name on the server.")
    if fixed and server is not None:
        raise ValueError(
            "Expected --server URL without --beam-size, --search and --with, which are fixed in "
            "the export."
        )
    if n_best is not None and (scores or alignments):
        raise ValueError(
            "Expected --n-best alone; it writes scores. Leave --scores and --alignments out."
        )
    console = progress_console()
    waiting = {} if timeout is None else {"timeout": timeout}
    with console.status("loading the model"):
        if server is None:
            translator = load_translator(directory, beam_size, others=with_run, search=search)
        else:
            translator = connect_translator(server, model, version, **waiting)
    beam = translator.description.get("beam_size", n_best)  # a server may not tell it
    beam = translator.description.get("samples") or beam
    if n_best is not None and n_best > beam:
        raise ValueError(
            f"Expected --n-best of at most the beam size, {beam}. Received: --n-best {n_best}. "
            "Ask for fewer; of a run, a larger --beam-size gives more."
        )
    contexts = None if context is None else _lines(context)
    if input is None and sys.stdin.isatty():
        console.print("Type a sentence and press Enter; Ctrl-D ends.", highlight=False)
    done = 0
    # A file can wait for some batches, which are then sorted by length; a pipe cannot.
    for chunk in read_chunks(input, batch_size * 16 if input else batch_size):
        options = {"batch_size": batch_size, "first_number": done + 1}
        if contexts is not None:
            options["contexts"] = [*islice(contexts, len(chunk))]
            if len(options["contexts"]) < len(chunk):
                raise ValueError(
                    f"Expected a line of --context for each text. Received: {context} with "
                    f"{done + len(options['contexts'])} lines for more texts."
                )
        if n_best is not None:
            lines = _ranked(translator.n_best(chunk, **options), n_best, done)
        else:
            lines = _best(translator, chunk, options, scores, alignments)
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
        done += len(chunk)
        if input and console.is_terminal and not sys.stdout.isatty():
            console.print(f"{done:,} lines", highlight=False, end="\r")


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file, without their ends."""
    for chunk in read_chunks(path, 1000):
        yield from chunk


def _ranked(answers: list, n_best: int, done: int) -> Iterator[str]:
    for index, ranked in enumerate(answers, start=done):
        for translation, score in ranked[:n_best]:
            yield f"{index} ||| {translation} ||| {score:.6f}"


def _best(
    translator: Any, chunk: list[str], options: dict, scores: bool, alignments: bool
) -> Iterator[str]:
    best = translator.best(chunk, **options)
    attention = translator.attention(chunk, **options) if alignments else [None] * len(chunk)
    for text, (translation, score), attended in zip(chunk, best, attention, strict=True):
        columns = [translation]
        if scores:
            columns.append(f"{score:.6f}")
        if alignments:
            columns.append(_pharaoh(text, translation, attended, translator.description))
        yield "\t".join(columns)


def _pharaoh(text: str, translation: str, attended: Any, description: dict[str, Any]) -> str:
    from kerasnmt.text import word_indices
    from kerasnmt.viz import format_pharaoh, word_alignment

    def words(side: str, text: str, tokens: list[str]) -> list[int]:
        return word_indices(tokens, token_kind(description, side, text, tokens))

    links = word_alignment(
        attended.weights,
        words("source", text, attended.source_tokens),
        words("target", translation, attended.target_tokens),
    )
    return format_pharaoh(links)
