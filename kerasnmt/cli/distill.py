"""`kerasnmt distill`."""

import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kerasnmt.atomic_write import atomic_write
from kerasnmt.cli.console import progress_console, say
from kerasnmt.cli.errors import print_warnings
from kerasnmt.cli.loading import SearchChanges, is_trained, load_translator
from kerasnmt.cli.options import BeamSize, Model, SearchOptions, Tags, WithRuns
from kerasnmt.cli.parts import model_version, parts_of
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.cli.records import Format, Record, RecordWriter
from kerasnmt.cli.requests import check_fields, checked_tags, read_lines, tagged
from kerasnmt.data.tables import table_format
from kerasnmt.data.writing import opened_to_write
from kerasnmt.progress_lines import progress_bar
from kerasnmt.text.tags import written_tags

# Number of texts of a part, after which interrupted work goes on.
_PART = 512


class _Teacher(NamedTuple):
    """Model that writes the translations, and how. It can be sent to another process."""

    model: str
    changes: SearchChanges
    tags: list[str] | None
    tokenize: str | None
    batch_size: int

    def translate(self, part: "_Part") -> list[str]:
        """Translate texts. With references, choose the nearest translation of each beam."""
        from kerasnmt.training import nearest_translations

        translator = _translator(self.model, self.changes)
        sources = tagged(part.sources, checked_tags(self.tags, translator))
        options = {"batch_size": self.batch_size, "first_number": part.first_number}
        if part.references is None:
            return [text for text, _ in translator.best(sources, **options)]
        beams = translator.n_best(sources, **options)
        texts = [[text for text, _ in beam] for beam in beams]
        return nearest_translations(texts, part.references, tokenize=self.tokenize)


class _Part(NamedTuple):
    """Some of the texts, and the file of their translations."""

    path: Path
    first_number: int
    sources: Sequence[str]
    references: Sequence[str] | None


def distill(
    model: Model,
    source: Annotated[
        Path, typer.Option("--source", help="File of texts to translate, plain or compressed.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            metavar="PAIRS",
            help="File of pairs to write: .tsv, or .csv or .jsonl with source and target.",
        ),
    ],
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            help="File of known translations. From each beam, write the translation closest to the "
            "reference (sentence BLEU), not the first.",
        ),
    ] = None,
    back: Annotated[
        bool,
        typer.Option("--back", help="Write the translation first, as the source of the text."),
    ] = False,
    mark: Annotated[
        str | None,
        typer.Option(
            "--mark", metavar="TAG", help="Tag in front of the source of each pair, such as bt."
        ),
    ] = None,
    beam_size: BeamSize = None,
    search: SearchOptions = None,
    with_run: WithRuns = None,
    tags: Tags = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            help="Number of processes that translate.",
            show_default="the cores, or 1 with a GPU or an export",
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Translate texts with a teacher, and write pairs to train a student on: text, translation.

    The teacher is a model, or an ensemble with --with. With --back, the pairs train the opposite
    direction (back-translation). Texts without a translation are left out.

    Run the command again to resume interrupted work. Its finished parts are in PAIRS.parts.
    """
    load_tensorflow()
    from kerasnmt.data import read_parallel
    from kerasnmt.training import bleu_tokenizer, texts

    _check_new(output)
    sources, _ = texts(read_parallel(source, source))
    front = "".join(written_tags(mark or ""))
    if mark is not None and not front:
        raise ValueError(f"Expected a tag, such as bt, with --mark. Received: {mark!r}.")
    references = read_lines("--reference", reference, len(sources))
    for number, text in enumerate(sources, start=1):
        if "\t" in text:
            raise ValueError(
                f"Expected texts without tabs, which separate the columns of {output}. Received: "
                f"{text!r:.100} in line {number} of {source}."
            )
    others = tuple(with_run or ())
    teacher = _Teacher(
        model,
        SearchChanges(beam_size, tuple(search or ()), others),
        tags,
        None if references is None else bleu_tokenizer(references),
        batch_size,
    )
    console = progress_console()
    with console.status("loading the model"):
        checked_tags(tags, _translator(model, teacher.changes))
    versions = [model_version(one) for one in (model, *others)]
    work = [sources, references, versions, teacher._replace(batch_size=0)]
    with parts_of(output, work) as folder:
        _check_new(output)
        parts = [
            _Part(
                folder / f"{start}.json", start + 1, sources[rows], references and references[rows]
            )
            for start in range(0, len(sources), _PART)
            for rows in [slice(start, start + _PART)]
        ]
        missing = [part for part in parts if not part.path.exists()]
        if done := len(parts) - len(missing):
            texts_done = min(done * _PART, len(sources))
            say(console, f"already translated: {texts_done:,} of {len(sources):,} texts")
        with progress_bar(console, "translating", len(missing)) as advance:
            for _ in _translate(teacher, missing, jobs or _jobs(model)):
                advance(1)
        written = _join(output, parts, back=back, front=front)
    say(console, f"pairs: {written:,} of {len(sources):,} texts")


def _check_new(output: Path) -> None:
    """Check that the output is new. Another process may have written it since the start."""
    if os.path.lexists(output):
        raise ValueError(f"Expected a new file. Received: --output {output}, which exists.")


def _jobs(model: str) -> int:
    """Return how many processes may translate. On a GPU, and in an export, one uses all of it."""
    import tensorflow as tf

    alone = tf.config.list_physical_devices("GPU") or not is_trained(model)
    return 1 if alone else os.cpu_count() or 1


@cache
def _translator(model: str, changes: SearchChanges) -> Any:
    """Load the teacher, once in each process."""
    load_tensorflow()
    translator = load_translator(model, changes)
    check_fields(translator.fields, ("text",))
    return translator


def _translate(teacher: _Teacher, parts: Sequence[_Part], jobs: int) -> Iterator[None]:
    """Write the translations of the parts, and yield after each of them.

    Raises:
        ChildProcessError: If a process was killed.
    """
    if min(jobs, len(parts)) < 2:
        yield from map(_write, repeat(teacher), parts)
        return
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    with ProcessPoolExecutor(min(jobs, len(parts)), get_context("spawn"), _begin) as pool:
        futures = [pool.submit(_write, teacher, part) for part in parts]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "A process of --jobs was killed, perhaps for its memory. Run the command again to "
                "resume, with a smaller number of --jobs."
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Prepare a process, which ends when the first process has ended."""
    print_warnings()
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _write(teacher: _Teacher, part: _Part) -> None:
    """Write the translations of a part."""
    translations = teacher.translate(part)
    with atomic_write(part.path) as temporary:
        temporary.write_text(json.dumps(translations), encoding="utf-8")


def _join(output: Path, parts: Sequence[_Part], *, back: bool, front: str) -> int:
    """Write the pairs of all parts, and return their number."""
    written = 0

    def records() -> Iterator[tuple[Record, Record]]:
        nonlocal written
        for part in parts:
            translations = json.loads(part.path.read_text("utf-8"))
            for pair in zip(part.sources, translations, strict=True):
                if all(map(str.strip, pair)):
                    written += 1
                    one, other = reversed(pair) if back else pair
                    yield {"source": f"{front}{one}", "target": other}, {}

    form = Format(table_format(output))
    with atomic_write(output) as temporary, opened_to_write(temporary) as file:
        for line in RecordWriter(form, heading=form is Format.CSV).lines(records()):
            file.write(line.encode())
    return written
