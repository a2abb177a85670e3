"""`kerasnmt distill`."""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kerasnmt.atomic_write import atomic_write
from kerasnmt.cli.console import progress_console, say
from kerasnmt.cli.loading import SearchChanges, load_translator
from kerasnmt.cli.options import BeamSize, Model, SearchOptions, WithRuns
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.cli.requests import check_fields, read_lines
from kerasnmt.progress_lines import progress_bar
from kerasnmt.text.tags import with_tags

# Number of texts of a part, after which interrupted work goes on.
_PART = 512


class _Teacher(NamedTuple):
    """Model that writes the translations, and how. It can be sent to another process."""

    model: str
    changes: SearchChanges
    tokenize: str | None
    batch_size: int

    def translate(self, sources: Sequence[str], references: Sequence[str] | None) -> list[str]:
        """Translate texts. With references, choose the nearest translation of each beam."""
        from kerasnmt.training import nearest_translations

        translator = _translator(self.model, self.changes)
        if references is None:
            return translator.translate(sources, batch_size=self.batch_size)
        beams = translator.n_best(sources, batch_size=self.batch_size)
        texts = [[text for text, _ in beam] for beam in beams]
        return nearest_translations(texts, references, tokenize=self.tokenize)


def distill(
    model: Model,
    source: Annotated[
        Path, typer.Option("--source", help="File of texts to translate, plain or compressed.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", metavar="PAIRS", help="File of pairs to write, such as pairs.tsv."
        ),
    ],
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            help="File of known translations. Of each beam, the translation with the highest "
            "sentence BLEU is written, not the first one.",
        ),
    ] = None,
    back: Annotated[
        bool,
        typer.Option("--back", help="Write the translation first, as the source of the text."),
    ] = False,
    mark: Annotated[
        str,
        typer.Option(
            "--mark", metavar="TAG", help="Tag in front of the source of each pair, such as bt."
        ),
    ] = "",
    beam_size: BeamSize = None,
    search: SearchOptions = None,
    with_run: WithRuns = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of processes.", show_default="all cores"),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Translate texts with a teacher, and write pairs to train a student on: text, translation.

    The teacher is a model, or an ensemble with --with. With --back, the pairs train the opposite
    direction (back-translation). Texts without a translation are left out.

    Interrupted work goes on when the command is repeated: the finished parts are in PAIRS.parts.
    """
    load_tensorflow()
    from kerasnmt.data import read_parallel
    from kerasnmt.training import bleu_tokenizer, texts

    sources, _ = texts(read_parallel(source, source))
    front = with_tags("", mark)
    references = read_lines("--reference", reference, len(sources))
    for number, text in enumerate(sources, start=1):
        if "\t" in text:
            raise ValueError(
                f"Expected texts without tabs, which separate the columns of {output}. Received: "
                f"{text!r:.100} in line {number} of {source}."
            )
    teacher = _Teacher(
        model,
        SearchChanges(beam_size, tuple(search or ()), tuple(with_run or ())),
        None if references is None else bleu_tokenizer(references),
        batch_size,
    )
    parts = _parts_of(output, [sources, references, teacher._replace(batch_size=0)])
    numbers = range(0, len(sources), _PART)
    missing = {parts / f"{number}.json": slice(number, number + _PART) for number in numbers}
    missing = {path: place for path, place in missing.items() if not path.exists()}
    console = progress_console()
    if done := len(numbers) - len(missing):
        say(console, f"done before: {min(done * _PART, len(sources)):,} of {len(sources):,} texts")
    count = min(jobs or os.cpu_count() or 1, len(missing))
    chunks = [(sources[place], references and references[place]) for place in missing.values()]
    work = zip(repeat(teacher), missing, chunks)
    with progress_bar(console, "translating", len(numbers)) as advance:
        if count > 1:
            os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
            with ProcessPoolExecutor(count, get_context("spawn")) as pool:
                futures = [pool.submit(_write, *one) for one in work]
                for number, future in enumerate(as_completed(futures), start=done + 1):
                    future.result()
                    advance(number)
        else:
            for number, one in enumerate(work, start=done + 1):
                _write(*one)
                advance(number)
    written = _join(output, parts, sources, back=back, front=front)
    say(console, f"pairs: {written:,} of {len(sources):,} texts")


@cache
def _translator(model: str, changes: SearchChanges) -> Any:
    """Load the teacher, once in each process."""
    load_tensorflow()
    translator = load_translator(model, changes)
    check_fields(translator.fields, ("text",))
    return translator


def _write(
    teacher: _Teacher, path: Path, chunk: tuple[Sequence[str], Sequence[str] | None]
) -> None:
    """Write the translations of a part."""
    translations = teacher.translate(*chunk)
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(translations), encoding="utf-8")


def _parts_of(output: Path, work: list[Any]) -> Path:
    """Return the folder of the parts, for this work alone.

    Raises:
        ValueError: If the output exists, or the folder has parts of other work.
    """
    if output.exists():
        raise ValueError(f"Expected a new file. Received: --output {output}, which exists.")
    parts = output.with_name(f"{output.name}.parts")
    name = parts / hashlib.sha256(json.dumps(work).encode()).hexdigest()
    if parts.exists() and not name.exists():
        raise ValueError(
            f"Expected the texts and options of the interrupted work in {parts}. Received: others. "
            "Repeat the command as it was, or remove the folder."
        )
    name.mkdir(parents=True, exist_ok=True)
    return name


def _join(output: Path, parts: Path, sources: Sequence[str], *, back: bool, front: str) -> int:
    """Write the pairs of all parts, remove the parts, and return the number of pairs."""
    files = sorted(parts.glob("*.json"), key=lambda path: int(path.stem))
    translations = (text for path in files for text in json.loads(path.read_text("utf-8")))
    written = 0
    with atomic_write(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for pair in zip(sources, translations, strict=True):
            if all(map(str.strip, pair)):
                one, other = reversed(pair) if back else pair
                file.write(f"{front}{one}\t{other}\n")
                written += 1
    shutil.rmtree(parts.parent)
    return written
