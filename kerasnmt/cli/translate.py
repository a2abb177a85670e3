"""`kerasnmt translate`."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import SearchChanges, ServerModel, connect_translator, load_translator
from kerasnmt.cli.options import BeamSize, Context, OptionalModel, SearchOptions, Tags, WithRuns
from kerasnmt.cli.requests import RequestFiles, check_fields, checked_tags, tagged
from kerasnmt.cli.terms import GlossaryFile, IgnoreCase, TermsFile, WantedTerms
from kerasnmt.cli.tokens import token_kinds
from kerasnmt.kinds import field_named, kind_of, kinds


def translate(
    path: OptionalModel = None,
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
    tags: Tags = None,
    terms: TermsFile = None,
    glossary: GlossaryFile = None,
    ignore_case: IgnoreCase = False,
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

    With --terms or --glossary, a warning names each term that a translation lacks.

    Models that caption images read --image a.png b.png. Models that answer questions read --story
    FILE and questions. They write one caption or answer per line.
    """
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
    sources: dict[str, Any] = {
        "text": input,
        "context": context,
        "image": [*(image or []), *(images or [])],
        "story": story,
        "question": question,
    }
    files = RequestFiles(_with_named_files(sources, field or []))
    changes = SearchChanges(beam_size, search, with_run)
    remote = _server_model(path, server, model, version, timeout)
    if remote is not None and any(changes):
        raise ValueError(
            "Expected --server URL without --beam-size, --search and --with, which are fixed in "
            "the export."
        )
    lines = _Lines(batch_size, scores, alignments, n_best)
    lines.check(files.fields)
    wanted = WantedTerms(terms, glossary, ignore_case)
    others = {"--n-best": n_best, "--alignments": alignments, "--server": server}
    wanted.check(files.fields, [option for option, value in others.items() if value])
    console = progress_console()
    with console.status("loading the model"):
        if remote is not None:
            translator = connect_translator(remote)
        else:
            translator = load_translator(str(path), changes, translates=False, warns=True)
    lines.check_beam(translator.description)
    check_fields(translator.fields, files.fields)
    start = checked_tags(tags, translator)
    if files.live and files.from_stdin and sys.stdin.isatty():
        console.print("Type a sentence and press Enter; Ctrl-D ends.", highlight=False)
    done = 0
    # Several batches of a file are sorted by length. A pipe must not wait for several batches.
    for request in files.chunks(batch_size if files.live else batch_size * 16):
        if start:
            request["text"] = tagged(request["text"], start)
        sys.stdout.writelines(f"{line}\n" for line in lines.of(translator, request, done, wanted))
        sys.stdout.flush()
        done += len(next(iter(request.values())))
        if not files.live and console.is_terminal and not sys.stdout.isatty():
            console.print(f"{done:,} lines", highlight=False, end="\r")
    wanted.finish()


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
    path: str | None, url: str | None, name: str | None, version: int | None, timeout: float | None
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
    return ServerModel(url, name, version, timeout)


class _Lines(NamedTuple):
    """Lines that the command writes for each row of a request.

    Attributes:
        batch_size: Number of rows of a batch.
        scores: Whether to add the score of the best answer.
        alignments: Whether to add the alignment of the best translation.
        n_best: Number of translations of each text, with scores, or None for the best answer.
    """

    batch_size: int
    scores: bool
    alignments: bool
    n_best: int | None

    def check(self, fields: Sequence[str]) -> None:
        """Check that the options fit together, and fit requests with these fields."""
        if self.n_best is not None and (self.scores or self.alignments):
            raise ValueError(
                "Expected --n-best without --scores and --alignments. It always writes scores."
            )
        if not kind_of(fields).translates and (self.n_best is not None or self.alignments):
            raise ValueError(
                f"Expected texts with --n-best and --alignments. Received: {' and '.join(fields)}."
            )

    def check_beam(self, description: dict[str, Any]) -> None:
        """Check that N is at most the beam size, unless a server does not describe it."""
        n_best = self.n_best or 0
        beam = description.get("samples") or description.get("beam_size", n_best)
        if n_best > beam:
            raise ValueError(
                f"Expected at most {beam}, the beam size, for --n-best. Received: --n-best "
                f"{n_best}. Choose a smaller number or, for a run, a larger --beam-size."
            )

    def of(
        self, translator: Any, request: dict[str, list], done: int, wanted: WantedTerms
    ) -> Iterator[str]:
        """Return the lines for a request, after the rows that are done."""
        options: dict[str, Any] = {"batch_size": self.batch_size, "first_number": done + 1}
        if wanted:
            terms = wanted.of(request["text"])
            return self._columns(translator.with_terms(request, terms, wanted.glossary, **options))
        if self.n_best is None and not self.alignments:
            return self._columns(translator.ask(request, **options))
        texts = request["text"]
        options["contexts"] = request.get("context")
        if self.n_best is not None:
            translations = translator.n_best(texts, **options)
            return (
                f"{index} ||| {translation} ||| {score:.6f}"
                for index, ranked in enumerate(translations, start=done)
                for translation, score in ranked[: self.n_best]
            )
        best = translator.best_as_a_whole(texts, **options)
        attention = translator.attention(texts, **options)
        from kerasnmt.alignment import format_pharaoh

        description = translator.description
        links = (
            format_pharaoh(one.alignment(*token_kinds(description, text, translation, one)))
            for text, (translation, _), one in zip(texts, best, attention, strict=True)
        )
        return self._columns(best, links)

    def _columns(self, best: list[tuple[str, float]], *links: Iterable[str]) -> Iterator[str]:
        columns = [[answer for answer, _ in best], *links]
        if self.scores:
            columns.insert(1, [f"{score:.6f}" for _, score in best])
        return map("\t".join, zip(*columns, strict=True))
