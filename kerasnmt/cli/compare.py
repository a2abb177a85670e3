"""`kerasnmt compare`."""

import hashlib
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from kerasnmt.atomic_write import atomic_write
from kerasnmt.cli.console import print_table, progress_console, translate_chunks
from kerasnmt.cli.evaluate import sentences_of
from kerasnmt.cli.loading import load_translator
from kerasnmt.cli.options import Columns
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.cli.records import Format, RecordWriter
from kerasnmt.cli.requests import check_fields, text_fields
from kerasnmt.version import __version__

# Largest number of sentences on the page.
_SENTENCES = 50
_HEADING = {
    "run": "run",
    "model": "model",
    "parameters": "parameters",
    "megabytes": "MB",
    "minutes": "minutes",
    "epochs": "epochs",
    "val_loss": "lowest val. loss",
    "perplexity": "perplexity",
    "bleu": "BLEU",
    "bleu_p_value": "p",
    "chrf": "chrF",
    "chrf_p_value": "p",
    "exact": "exact %",
    "exact_p_value": "p",
}
_DIGITS = {
    "megabytes": 1,
    "minutes": 1,
    "val_loss": 3,
    "perplexity": 2,
    "bleu": 2,
    "chrf": 2,
    "exact": 2,
}


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Folders of finished training runs."),
    ],
    source: Annotated[
        Path | None,
        typer.Option("--source", help="File of sources, in place of the runs' test data."),
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", help="File of their translations.")
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option("--pairs", help="Instead of both, a file of pairs.")
    ] = None,
    columns: Columns = None,
    tokenize: Annotated[
        str | None,
        typer.Option(
            "--tokenize", metavar="NAME", help="Tokenizer of sacreBLEU for BLEU; see evaluate."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="PAGE.html",
            help="Also write a page with the table, the learning curves, and the sentences that "
            "differ most.",
        ),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Format of the table; json is a JSON object per line.",
            show_default="text",
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
) -> None:
    """Compare training runs in one table: size, time, losses and scores on the same test data.

    Each p is a one-sided p-value of the difference to the first run, from the paired tests of
    `evaluate --baseline`. Each run translates the test data of its recipe, or else the validation
    data, with the search options of its model. The translations are kept in RUN/translations for
    the next time. The perplexity is that of the data of the recipe.
    """
    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"Expected --output FILE.html. Received: --output {output}.")
    finished = [_Run.finished(path) for path in runs]
    load_tensorflow()
    from kerasnmt.training import bleu_tokenizer

    console = progress_console()
    own = all(option is None for option in (source, reference, pairs, columns))
    if own:
        data = _common_data(finished)
    else:
        data = _Data(*sentences_of(source, reference, pairs, None, columns, None), None)
    tokenize = bleu_tokenizer(
        data.references, tokenize or finished[0].recipe.training.bleu_tokenizer
    )
    translations = [run.translations(data, batch_size, console) for run in finished]
    with console.status("scoring"):
        rows = _scored(finished, translations, data, tokenize, own)
    cells = [[*_HEADING.values()], *([_cell(name, row[name]) for name in _HEADING] for row in rows)]
    part = f" of the {finished[0].results['test']} data" if own else ""
    note = f"on {len(data.sources):,} sentences{part}, BLEU with the tokenizer {tokenize}"
    if output is not None:
        from kerasnmt.viz import comparison_page

        names = _names(runs)
        histories = {
            name: run.results["history"] for name, run in zip(names, finished, strict=True)
        }
        named = [cells[0], *([name, *row[1:]] for name, row in zip(names, cells[1:], strict=True))]
        page = comparison_page(
            named,
            histories,
            _most_different(translations, data),
            note=f"{note}. The score of a sentence is its chrF.",
            title="Comparison of training runs",
        )
        with atomic_write(output) as path:
            path.write_text(page, encoding="utf-8")
    if form in (None, Format.TEXT):
        print_table(cells)
        print(note)
    else:
        more = {"sentences": len(data.sources), "bleu_tokenizer": tokenize}
        sys.stdout.writelines(RecordWriter(form).lines((row, more) for row in rows))
    if output is not None:
        print(output, file=sys.stderr)


class _Data(NamedTuple):
    """Test data."""

    sources: list[str]
    references: list[Any]
    contexts: list[str] | None


@dataclass
class _Run:
    """Finished training run."""

    path: str
    folder: Any
    results: dict[str, Any]

    @classmethod
    def finished(cls, path: str) -> "_Run":
        """Return a run.

        Raises:
            ValueError: If the folder has no run, or the run is not finished or damaged.
        """
        from kerasnmt.training import RunFolder

        folder = RunFolder(path)
        if not folder.recipe.exists():
            raise ValueError(
                f"Expected the folder of a training run. Received: {path}, without "
                f"{folder.recipe.name}."
            )
        if not folder.results.exists():
            raise ValueError(
                f"Expected finished runs. Received: {path}, without {folder.results.name}. Finish "
                "it with kerasnmt train --resume."
            )
        folder.check_trained()
        types = {"test": str, "model": str, "parameters": int, "train_seconds": float}
        results = folder.read_json(folder.results, **types, epochs=int, history=list)
        return cls(path, folder, results)

    @cached_property
    def recipe(self) -> Any:
        """The recipe."""
        from kerasnmt.training import Recipe

        return Recipe.load(self.folder.recipe)

    def data(self) -> _Data:
        """Return the data that the run was scored on.

        Raises:
            ValueError: If a file is missing, or has changed since.
        """
        from kerasnmt.training import texts
        from kerasnmt.training.corpora import fingerprint, lines_of, read_pairs

        split = self.results["test"]
        section = self.recipe.data.splits[split]
        files = self.recipe.data.files
        known = self.folder.read_json(self.folder.data) if self.folder.data.exists() else {}
        for key, before in known.items():
            if not key.startswith(f"data.{split}.") or key not in files:
                continue
            if not files[key].exists() or fingerprint(files[key]) != before:
                raise ValueError(
                    f"Expected the data that {self.path} was scored on. Received: {files[key]}, "
                    "which has changed since or is missing. Choose other data with --pairs, or "
                    "--source and --reference."
                )
        contexts = lines_of(section.context) if section.context else None
        return _Data(*texts(read_pairs(section, split)), contexts)

    def translations(self, data: _Data, batch_size: int, console: Console) -> list[str]:
        """Return the translations of data, from the last time if nothing has changed."""
        model = self.folder.model.stat()
        options = repr(self.recipe.search.options)
        facts = ["translations", model.st_size, model.st_mtime_ns, options, __version__]
        work = json.dumps([facts, data.sources, data.contexts]).encode()
        path = self.folder.translations / f"{hashlib.sha256(work).hexdigest()[:16]}.json"
        if path.exists():
            return self.folder.read_json(path, translations=list)["translations"]
        with console.status(f"loading {self.path}"):
            translator = load_translator(self.path)
        check_fields(translator.fields, text_fields(data.contexts))
        translations = translate_chunks(
            translator, data.sources, data.contexts, batch_size, console
        )
        with suppress(OSError):  # in a folder that cannot be written
            self.folder.write_json(path, {"translations": translations})
        return translations

    def facts(self) -> dict[str, Any]:
        """Return what is known without test data."""
        results = self.results
        losses = [one["val_loss"] for one in results["history"] if one.get("val_loss") is not None]
        return {
            "run": self.path,
            "model": results["model"],
            "parameters": results["parameters"],
            "megabytes": round(self.folder.model.stat().st_size / 1e6, 3),
            "minutes": round(results["train_seconds"] / 60, 3),
            "epochs": results["epochs"],
            "val_loss": min(losses, default=None),
        }


def _common_data(runs: list[_Run]) -> _Data:
    """Return the test data of all runs.

    Raises:
        ValueError: If they differ.
    """
    first, *others = [run.data() for run in runs]
    for run, data in zip(runs[1:], others, strict=True):
        if data != first:
            raise ValueError(
                f"Expected runs with the same test data. Received: {runs[0].path} with "
                f"{len(first.sources):,} sentences, and {run.path} with other "
                f"{len(data.sources):,}. Choose the data with --pairs, or --source and --reference."
            )
    return first


def _scored(
    runs: list[_Run],
    translations: list[list[str]],
    data: _Data,
    tokenize: str,
    own: bool,
) -> list[dict[str, Any]]:
    """Return a record for each run, with its scores and the p-values against the first."""
    from kerasnmt.training import compared_scores, translation_scores

    rows: list[dict[str, Any]] = []
    for run, texts in zip(runs, translations, strict=True):
        if not rows:
            scores = translation_scores(texts, data.references, tokenize=tokenize)
        else:
            scores = compared_scores(texts, translations[0], data.references, tokenize=tokenize)
        row = run.facts()
        row["perplexity"] = run.results.get("perplexity") if own else None
        for name in ("bleu", "chrf", "exact"):
            row[name] = round(float(scores[name]), 4)
            row[f"{name}_p_value"] = scores.get(f"{name}_p_value")
        rows.append(row)
    return rows


def _most_different(translations: list[list[str]], data: _Data) -> list[Any]:
    """Return the sentences whose translations differ most in chrF, the largest difference first."""
    from sacrebleu.metrics import CHRF

    from kerasnmt.viz import ComparedSentence

    chrf, sentences = CHRF(), []
    for source, known, *texts in zip(data.sources, data.references, *translations, strict=True):
        references = [known] if isinstance(known, str) else known
        if len({*texts}) > 1:
            scores = [chrf.sentence_score(text, references).score for text in texts]
            sentences.append(ComparedSentence(source, references, texts, scores))
    sentences.sort(key=lambda one: min(one.scores) - max(one.scores))
    return sentences[:_SENTENCES]


def _names(runs: list[str]) -> list[str]:
    """Return a name for each run: the last part of its path if no other run has it."""
    short = [Path(run).resolve().name for run in runs]
    names = short if len({*short}) == len(runs) else runs
    return names if len({*names}) == len(runs) else [f"{n} {run}" for n, run in enumerate(runs, 1)]


def _cell(name: str, value: Any) -> str:
    """Return the text of a cell."""
    if value is None:
        return "–"
    if name.endswith("p_value"):
        return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
    if name in _DIGITS:
        return f"{value:.{_DIGITS[name]}f}"
    return value if isinstance(value, str) else f"{value:,}"
