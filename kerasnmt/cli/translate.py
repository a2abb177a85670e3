"""`kerasnmt translate`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.answers import Answers, check_options
from kerasnmt.cli.confidence import WithConfidence
from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import SearchChanges, ServerModel, connect_translator, load_translator
from kerasnmt.cli.options import (
    BeamSize,
    Context,
    OptionalModel,
    SearchOptions,
    Stream,
    Tags,
    WithRuns,
    text_columns,
)
from kerasnmt.cli.records import Format, FormatOption, RecordWriter
from kerasnmt.cli.requests import (
    RequestFiles,
    RequestTable,
    check_fields,
    checked_tags,
    tagged,
    with_lines,
)
from kerasnmt.cli.streams import write_words
from kerasnmt.cli.terms import (
    GlossaryFile,
    IgnoreCase,
    LexiconFile,
    TermsFile,
    read_glossary,
    read_lexicon,
    read_terms,
)
from kerasnmt.data.live_lines import lines_of
from kerasnmt.data.tables import table_format
from kerasnmt.kinds import field_named, kind_of, kinds


def translate(
    path: OptionalModel = None,
    input: Annotated[
        Path | None, typer.Option("--input", help="File to translate.", show_default="stdin")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="TEXT[,CONTEXT]",
            help="Read --input as .tsv, .csv or .jsonl, and translate this column: its name in the "
            "heading row, its key in .jsonl, or its number. The output keeps all columns.",
        ),
    ] = None,
    context: Context = None,
    prefix: Annotated[
        Path | None,
        typer.Option(
            "--prefix",
            metavar="FILE",
            help="File with the words that each translation must begin with, one line per text; an "
            "empty line for any words.",
        ),
    ] = None,
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
    tags: Tags = None,
    terms: TermsFile = None,
    glossary: GlossaryFile = None,
    ignore_case: IgnoreCase = False,
    lexicon: LexiconFile = None,
    beam_size: BeamSize = None,
    search: SearchOptions = None,
    shortlist: Annotated[
        bool,
        typer.Option(
            "--shortlist",
            help="Write only likely tokens of the model's shortlist, which is faster for a large "
            "vocabulary; the same as --search shortlist=true. See `kerasnmt shortlist`.",
        ),
    ] = False,
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
    confidence: WithConfidence = False,
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best",
            min=1,
            help="Write N lines per text, as index ||| text ||| score; with --confidence, also the "
            "share of right words and the words.",
        ),
    ] = None,
    form: FormatOption = None,
    stream: Stream = False,
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

    With --columns, the output is a table like the input: its fields, and then the translation.

    With --stream, each line grows word by word. A server, and an export that only has whole
    searches, give whole lines.

    With --terms or --glossary, warnings name the terms that translations lack.

    Models that caption images read --image a.png b.png. Models that answer questions read --story
    FILE and questions. They write one caption or answer per line.
    """
    path, images = _model_and_images(path, image, images, server)
    sources: dict[str, Any] = {
        "text": input,
        "context": context,
        "image": images,
        "story": story,
        "question": question,
    }
    files = _files(_with_named_files(sources, field or []), text_columns(columns))
    if shortlist:
        search = [*(search or []), "shortlist=true"]
    looked_up = None if lexicon is None else read_lexicon(lexicon)
    changes = SearchChanges(beam_size, search, with_run, looked_up)
    remote = _server_model(path, server, model, version, timeout, changes)
    form = form or (Format(table_format(str(input))) if columns else Format.TEXT)
    given = {
        "--scores": scores,
        "--alignments": alignments,
        "--confidence": confidence,
        "--n-best": n_best,
        "--prefix": prefix,
        "--terms": terms,
        "--glossary": glossary,
        "--lexicon": lexicon,
        "--stream": stream,
        "--columns": columns,
        "--format": form is not Format.TEXT and not columns,
    }
    check_options(files.fields, given)
    if ignore_case and glossary is None:
        raise ValueError("Expected --glossary FILE with --ignore-case.")
    # The import for the name of the answer takes 0.1 s.
    name = "answer" if form is Format.TEXT else kind_of(files.fields).contract.answer
    known = None if glossary is None else read_glossary(glossary, ignore_case)
    answers = Answers(name, scores, alignments, n_best, confidence, known)
    console = progress_console()
    with console.status("loading the model"):
        if remote is not None:
            translator = connect_translator(remote)
        else:
            translator = load_translator(str(path), changes, translates=False, warns=True)
    answers.check_model(translator.description)
    check_fields(translator.fields, files.fields, columns)
    start = checked_tags(tags, translator)
    writer = RecordWriter(form, heading=files.named)
    if files.live and files.from_stdin and sys.stdin.isatty():
        console.print("Type a sentence and press Enter; Ctrl-D ends.", highlight=False)
    done = 0
    # Several batches of a file are sorted by length. A pipe must not wait for several batches.
    chunks = files.chunks(batch_size if files.live else batch_size * 16)
    beside = {"prefix": (prefix, lines_of), "terms": (terms, read_terms)}
    for request, records in with_lines(chunks, beside):
        if start:
            request["text"] = tagged(request["text"], start)
        if stream:
            write_words(translator, request, done, sys.stdout)
        else:
            rows = answers.of(translator, request, batch_size=batch_size, first_number=done + 1)
            if form is Format.TEXT:
                sys.stdout.writelines(answers.lines(rows, done))
            else:
                sys.stdout.writelines(writer.lines(answers.records(rows, records, form)))
            sys.stdout.flush()
        done += len(records)
        if not files.live and console.is_terminal and not sys.stdout.isatty():
            console.print(f"{done:,} lines", highlight=False, end="\r")


def _model_and_images(
    path: str | None, image: list[Path] | None, images: list[Path] | None, server: str | None
) -> tuple[str | None, list[Path]]:
    """Return the model and the image files, which may follow each other without options."""
    if server is not None and image and path is not None:
        images, path = [Path(path), *(images or [])], None
    if images and not image:
        raise ValueError(
            f"Expected one MODEL. Received: {path} and {' '.join(map(str, images))}. "
            "Write --image before image files, and --input before a file of texts."
        )
    if images and image and len(image) > 1:  # the order of the files is unknown
        raise ValueError(
            "Expected --image once, before all files, or before each file. Received: --image "
            f"{len(image)} times, and {len(images)} files without it."
        )
    return path, [*(image or []), *(images or [])]


def _files(sources: dict[str, Any], columns: list[int | str] | None) -> RequestFiles | RequestTable:
    if columns is None:
        return RequestFiles(sources)
    if [name for name, source in sources.items() if source] != ["text"]:
        raise ValueError("Expected --input FILE, and no other file of texts, with --columns.")
    return RequestTable(sources["text"], columns)


def _with_named_files(sources: dict[str, Any], fields: list[str]) -> dict[str, Any]:
    """Add the files of `--field NAME=FILE`, which may be repeated for images."""
    for option in fields:
        name, _, path = option.partition("=")
        field = field_named(name)
        if not path or field is None:
            known = ", ".join(dict.fromkeys(name for kind in kinds() for name in kind.names))
            raise ValueError(
                f"Expected --field NAME=FILE, with one of the names {known}. Received: --field "
                f"{option}."
            )
        if field.binary:
            sources[name] = [*(sources.get(name) or []), Path(path)]
        elif sources.get(name):
            raise ValueError(f"Expected one file of {name}. Received: {sources[name]} and {path}.")
        else:
            sources[name] = Path(path)
    return sources


def _server_model(
    path: str | None,
    url: str | None,
    name: str | None,
    version: int | None,
    timeout: float | None,
    changes: SearchChanges,
) -> ServerModel | None:
    """Return the model on a server, or None if the model is local."""
    if (path is None) == (url is None):
        raise ValueError("Expected either MODEL or --server URL.")
    if url is None:
        if any(option is not None for option in (name, version, timeout)):
            raise ValueError("Expected --server URL with --model, --version and --timeout.")
        return None
    if name is None:
        raise ValueError("Expected --model, the name of the model on the server, with --server.")
    if any(changes):
        raise ValueError(
            "Expected --server URL without --beam-size, --search, --with and --lexicon, which are "
            "fixed in the export."
        )
    return ServerModel(url, name, version, timeout)
