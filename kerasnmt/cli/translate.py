"""`kerasnmt translate`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kerasnmt.cli.confidence import (
    WithConfidence,
    confidence_fields,
    warn_without_calibration,
    written_words,
)
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
from kerasnmt.cli.records import Format, FormatOption, Record, RecordWriter
from kerasnmt.cli.requests import (
    RequestFiles,
    RequestTable,
    check_fields,
    checked_tags,
    tagged,
    with_prefixes,
)
from kerasnmt.cli.streams import check_streams, write_words
from kerasnmt.cli.terms import GlossaryFile, IgnoreCase, TermsFile, WantedTerms
from kerasnmt.cli.tokens import token_kinds
from kerasnmt.data.tables import table_format
from kerasnmt.kinds import field_named, kind_of, kinds
from kerasnmt.text.parts import Parts

# How fields of answers are written in lines of text.
_CELLS: dict[str, Callable[[Any], str]] = {
    "score": "{:.6f}".format,
    "confidence": "{:.4f}".format,
    "words": written_words,
}


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
    files = _files(_with_named_files(sources, field or []), text_columns(columns))
    if shortlist:
        search = [*(search or []), "shortlist=true"]
    changes = SearchChanges(beam_size, search, with_run)
    remote = _server_model(path, server, model, version, timeout)
    if remote is not None and any(changes):
        raise ValueError(
            "Expected --server URL without --beam-size, --search and --with, which are fixed in "
            "the export."
        )
    form = form or (Format(table_format(str(input))) if columns else Format.TEXT)
    # The import for the name of the answer takes 0.1 s.
    name = "answer" if form is Format.TEXT else kind_of(files.fields).contract.answer
    answers = _Answers(name, batch_size, scores, alignments, n_best, confidence)
    answers.check(files.fields, prefix)
    if stream:
        check_streams(
            files.fields,
            scores=scores,
            alignments=alignments,
            confidence=confidence,
            n_best=n_best is not None,
            columns=columns is not None,
            format=form is not Format.TEXT,
        )
    wanted = WantedTerms(terms, glossary, ignore_case)
    others = zip(
        ("--n-best", "--alignments", "--confidence", "--stream"),
        (n_best, alignments, confidence, stream),
        strict=True,
    )
    wanted.check(files.fields, [option for option, value in others if value])
    console = progress_console()
    with console.status("loading the model"):
        if remote is not None:
            translator = connect_translator(remote)
        else:
            translator = load_translator(str(path), changes, translates=False, warns=True)
    answers.check_beam(translator.description)
    check_fields(translator.fields, files.fields)
    start = checked_tags(tags, translator)
    writer = RecordWriter(form, heading=files.named)
    if files.live and files.from_stdin and sys.stdin.isatty():
        console.print("Type a sentence and press Enter; Ctrl-D ends.", highlight=False)
    done = 0
    # Several batches of a file are sorted by length. A pipe must not wait for several batches.
    chunks = files.chunks(batch_size if files.live else batch_size * 16)
    for request, records in with_prefixes(chunks, prefix):
        if start:
            request["text"] = tagged(request["text"], start)
        if stream:
            write_words(translator, request, done, sys.stdout)
        else:
            rows = answers.of(translator, request, done, wanted)
            if form is Format.TEXT:
                sys.stdout.writelines(answers.lines(rows, done))
            else:
                sys.stdout.writelines(writer.lines(answers.records(rows, records, form)))
            sys.stdout.flush()
        done += len(records)
        if not files.live and console.is_terminal and not sys.stdout.isatty():
            console.print(f"{done:,} lines", highlight=False, end="\r")
    wanted.finish()


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


class _Answers(NamedTuple):
    """Answers that the command writes for each row of a request.

    Attributes:
        name: Name of an answer in records.
        batch_size: Number of rows of a batch.
        scores: Whether to add the score of the best answer.
        alignments: Whether to add the alignment of the best translation.
        n_best: Number of translations of each text, with scores, or None for the best answer.
        confidence: Whether to add the probabilities of the best translation and its words.
    """

    name: str
    batch_size: int
    scores: bool
    alignments: bool
    n_best: int | None
    confidence: bool

    def check(self, fields: Sequence[str], prefix: Path | None) -> None:
        """Check that the options fit together, and fit requests with these fields."""
        if self.n_best is not None and (self.scores or self.alignments):
            raise ValueError(
                "Expected --n-best without --scores and --alignments. It always writes scores."
            )
        more = self.alignments or self.confidence or self.n_best is not None
        if prefix is not None and more:
            raise ValueError("Expected --prefix without --n-best, --alignments and --confidence.")
        if (more or prefix is not None) and not kind_of(fields).translates:
            raise ValueError(
                "Expected texts with --n-best, --alignments, --confidence and --prefix. Received: "
                f"{' and '.join(fields)}."
            )

    def check_beam(self, description: dict[str, Any]) -> None:
        """Check that N is at most the beam size, unless a server does not describe it.

        An alignment belongs to a whole text, and confidence to its sentences if they are split.
        """
        if self.alignments and self.confidence and (split := Parts.of(description)):
            parts = "words" if split.words else "sentences"
            raise ValueError(
                "Expected --confidence without --alignments, because this model splits texts into "
                f"{parts}. Add --search split_{parts}=false, or omit one of them."
            )
        n_best = self.n_best or 0
        beam = description.get("samples") or description.get("beam_size", n_best)
        if n_best > beam:
            raise ValueError(
                f"Expected at most {beam}, the beam size, for --n-best. Received: --n-best "
                f"{n_best}. Choose a smaller number or, for a run, a larger --beam-size."
            )

    def of(
        self, translator: Any, request: dict[str, list], done: int, wanted: WantedTerms
    ) -> list[list[Record]]:
        """Return the answers to each row of a request, after the rows that are done.

        Args:
            translator: A `kerasnmt.tasks.Translator`.
            request: The rows, and perhaps a column of prefixes.
            done: Number of rows before them.
            wanted: Terms of the texts.
        """
        options: dict[str, Any] = {"batch_size": self.batch_size, "first_number": done + 1}
        if wanted:
            terms = wanted.of(request["text"])
            best = translator.with_terms(request, terms, wanted.glossary, **options)
            return [[self._answer(*one)] for one in best]
        prefixes = request.pop("prefix", None)
        if not (self.alignments or self.confidence or prefixes or self.n_best):
            best = translator.ask(request, **options)
            return [[self._answer(*one)] for one in best]
        texts = request["text"]
        options["contexts"] = request.get("context")
        if self.n_best is not None and self.confidence:
            judged = [row[: self.n_best] for row in translator.n_best_confidence(texts, **options)]
            warn_without_calibration([one for row in judged for one in row])
            return [
                [{self.name: one.text, "score": one.score, **confidence_fields(one)} for one in row]
                for row in judged
            ]
        if self.n_best is not None:
            return [
                [{self.name: text, "score": score} for text, score in ranked[: self.n_best]]
                for ranked in translator.n_best(texts, **options)
            ]
        if prefixes is not None:
            best = translator.best(texts, prefixes=prefixes, **options)
            return [[self._answer(*one)] for one in best]
        more: list[Record] = [{}] * len(texts)
        if self.confidence:
            found = translator.confidence(texts, **options)
            more = [confidence_fields(one) for one in found]
            warn_without_calibration(found)
            if not self.alignments:
                return [
                    [{**self._answer(one.text, one.score), **fields}]
                    for one, fields in zip(found, more, strict=True)
                ]
        best = translator.best_as_a_whole(texts, **options)
        attention = translator.attention(texts, **options)
        from kerasnmt.alignment import format_pharaoh

        description = translator.description
        links = (
            format_pharaoh(one.alignment(*token_kinds(description, text, translation, one)))
            for text, (translation, _), one in zip(texts, best, attention, strict=True)
        )
        return [
            [{**self._answer(*one), "alignment": pairs, **fields}]
            for one, pairs, fields in zip(best, links, more, strict=True)
        ]

    def _answer(self, answer: str, score: float) -> Record:
        return {self.name: answer, **({"score": score} if self.scores else {})}

    def lines(self, rows: list[list[Record]], done: int) -> Iterator[str]:
        """Yield lines of text, after the rows that are done."""
        between = "\t" if self.n_best is None else " ||| "
        for index, answers in enumerate(rows, start=done):
            front = [] if self.n_best is None else [str(index)]
            for answer in answers:
                cells = (_CELLS.get(name, str)(value) for name, value in answer.items())
                yield between.join([*front, *cells]) + "\n"

    def records(
        self, rows: list[list[Record]], records: list[Record], form: Format
    ) -> Iterator[tuple[Record, Record]]:
        """Yield the records of the input with their answers.

        In JSON, several translations of a text are a list. In TSV and CSV, each has a line.
        """
        for record, answers in zip(records, rows, strict=True):
            rounded = [
                {name: round(one, 6) if name == "score" else one for name, one in answer.items()}
                for answer in answers
            ]
            if self.n_best is not None and form is Format.JSON:
                yield record, {"n_best": rounded}
                continue
            for rank, answer in enumerate(rounded, start=1):
                yield record, {"rank": rank, **answer} if self.n_best is not None else answer
