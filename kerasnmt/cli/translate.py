"""`kerasnmt translate`."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import connect_translator, load_translator
from kerasnmt.cli.options import BeamSize, Context, OptionalModel, SearchOptions, WithRuns
from kerasnmt.cli.requests import RequestFiles, check_fields
from kerasnmt.cli.tokens import token_kind
from kerasnmt.kinds import field_named, kinds


def translate(
    place: OptionalModel = None,
    input: Annotated[
        Path | None, typer.Option("--input", help="File to translate.", show_default="stdin")
    ] = None,
    context: Context = None,
    image: Annotated[
        list[Path] | None,
        typer.Option(
            "--image",
            metavar="FILES",
            help="PNG or JPEG files, for models that caption images.",
        ),
    ] = None,
    story: Annotated[
        Path | None,
        typer.Option(
            "--story",
            metavar="FILE",
            help="File of stories, for models that answer questions, with a sentence per line and "
            "an empty line between stories. All questions may be about one story.",
        ),
    ] = None,
    question: Annotated[
        Path | None,
        typer.Option(
            "--question",
            metavar="FILE",
            help="File of questions, one per line.",
            show_default="stdin",
        ),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="NAME=FILE",
            help="File of another field that the model reads; repeatable.",
        ),
    ] = None,
    images: Annotated[
        list[Path] | None, typer.Argument(metavar="IMAGE", help="Further files of --image.")
    ] = None,
    beam_size: BeamSize = None,
    search: SearchOptions = None,
    with_run: WithRuns = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add a tab and the length-normalized log-probability."),
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments", help="Add a tab and source-target pairs of words, counted from 0."
        ),
    ] = False,
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best", min=1, help="Write N lines per text, as index ||| text ||| score."
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="TF Serving server to use instead of MODEL, http://host:8501 or grpc://host:8500.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Name of the model on the server.")
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            "--version", min=0, help="Version of the model.", show_default="the server's choice"
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            help="Time limit for each answer of the server.",
            show_default="60",
        ),
    ] = None,
) -> None:
    """Translate lines of text from standard input or a file, one translation per line, in order.

    The lines of a pipe are translated as soon as they come, for use from another program. Empty
    lines stay empty. A line with too many tokens for the model is truncated, with a warning
    unless the model is on a server.

    Models that caption images read --image a.png b.png. Models that answer questions read --story
    FILE and questions. They write one caption or answer per line.
    """
    if server is not None and image and place is not None:
        images, place = [Path(place), *(images or [])], None
    if images and not image:
        raise ValueError(
            f"Expected one MODEL. Received: {place} and {' '.join(map(str, images))}. "
            "Write --image before image files, and --input before a file of texts."
        )
    if images and image and len(image) > 1:  # the order of the files is unknown
        raise ValueError(
            "Expected --image once, before all files, or before each file. Received: --image "
            f"{len(image)} times, and {len(images)} files without it."
        )
    sources = {
        **_named_files(field or []),
        "text": input,
        "context": context,
        "image": [*(image or []), *(images or [])],
        "story": story,
        "question": question,
    }
    files = RequestFiles(sources)
    fixed = beam_size is not None or bool(search) or bool(with_run)
    _check_source(place, server, (model, version, timeout), fixed)
    if n_best is not None and (scores or alignments):
        raise ValueError(
            "Expected --n-best without --scores and --alignments. It always writes scores."
        )
    if "text" not in files.fields and (n_best is not None or alignments):
        raise ValueError(
            "Expected texts with --n-best and --alignments. Received: "
            f"{' and '.join(files.fields)}."
        )
    console = progress_console()
    with console.status("loading the model"):
        if server is None:
            translator = load_translator(
                cast(str, place),
                beam_size,
                others=with_run,
                search=search,
                translates=False,
                warns=True,
            )
        else:
            waiting = {} if timeout is None else {"timeout": timeout}
            translator = connect_translator(server, cast(str, model), version, **waiting)
    if n_best is not None:
        _check_n_best(n_best, translator.description)
    check_fields(translator.fields, files.fields)
    if files.live and files.from_stdin and sys.stdin.isatty():
        console.print("Type a sentence and press Enter; Ctrl-D ends.", highlight=False)
    done = 0
    # Several batches of a file are sorted by length. A pipe must not wait for several batches.
    for request in files.chunks(batch_size if files.live else batch_size * 16):
        options = {"batch_size": batch_size, "first_number": done + 1}
        if n_best is not None:
            texts, contexts = request["text"], request.get("context")
            found = translator.n_best(texts, contexts=contexts, **options)
            lines = _ranked(found, n_best, done)
        else:
            lines = _best(translator, request, options, scores, alignments)
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
        done += len(next(iter(request.values())))
        if not files.live and console.is_terminal and not sys.stdout.isatty():
            console.print(f"{done:,} lines", highlight=False, end="\r")


def _named_files(fields: list[str]) -> dict[str, Path]:
    """Return the file of each field of `--field NAME=FILE`."""
    pairs = [field.partition("=") for field in fields]
    for name, _, path in pairs:
        if not (path and field_named(name)):
            known = ", ".join(field.name for kind in kinds() for field in kind.fields)
            raise ValueError(
                f"Expected --field NAME=FILE, with one of the names {known}. Received: --field "
                f"{name}{'=' + path if path else ''}."
            )
    return {name: Path(path) for name, _, path in pairs}


def _check_source(
    place: str | None, server: str | None, of_server: tuple[Any, ...], fixed: bool
) -> None:
    """Check that the options fit the source of the model, a local place or a server.

    Args:
        place: Local place of the model, or None.
        server: URL of a server, or None.
        of_server: Options of a server: model, version and timeout.
        fixed: Whether options are given that are fixed in an export.
    """
    if (place is None) == (server is None):
        raise ValueError("Expected either MODEL or --server URL.")
    if server is None:
        if any(option is not None for option in of_server):
            raise ValueError("Expected --server URL with --model, --version and --timeout.")
        return
    if of_server[0] is None:
        raise ValueError("Expected --model, the name of the model on the server, with --server.")
    if fixed:
        raise ValueError(
            "Expected --server URL without --beam-size, --search and --with, which are fixed in "
            "the export."
        )


def _check_n_best(n_best: int, description: dict[str, Any]) -> None:
    """Raise an error if N exceeds the beam size, unless a server does not describe the search."""
    beam = description.get("samples") or description.get("beam_size", n_best)
    if n_best > beam:
        raise ValueError(
            f"Expected at most {beam}, the beam size, for --n-best. Received: --n-best {n_best}. "
            "Choose a smaller number or, for a run, a larger --beam-size."
        )


def _ranked(answers: list, n_best: int, done: int) -> Iterator[str]:
    for index, ranked in enumerate(answers, start=done):
        for translation, score in ranked[:n_best]:
            yield f"{index} ||| {translation} ||| {score:.6f}"


def _best(
    translator: Any, request: dict[str, list], options: dict, scores: bool, alignments: bool
) -> Iterator[str]:
    if alignments:
        texts, contexts = request["text"], request.get("context")
        best = translator.best_as_a_whole(texts, contexts=contexts, **options)
    else:
        best = translator.ask(request, **options)
    columns: list[Iterable[str]] = [[answer for answer, _ in best]]
    if scores:
        columns.append([f"{score:.6f}" for _, score in best])
    if alignments:
        attention = translator.attention(texts, contexts=contexts, **options)
        columns.append(
            _pharaoh(text, translation, attended, translator.description)
            for text, translation, attended in zip(texts, columns[0], attention, strict=True)
        )
    return map("\t".join, zip(*columns, strict=True))


def _pharaoh(text: str, translation: str, attended: Any, description: dict[str, Any]) -> str:
    from kerasnmt.viz import format_pharaoh

    kinds = (
        token_kind(description, "source", text, attended.source_tokens),
        token_kind(description, "target", translation, attended.target_tokens),
    )
    return format_pharaoh(attended.alignment(*kinds))
