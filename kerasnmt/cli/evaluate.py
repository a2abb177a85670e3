"""`kerasnmt evaluate`."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import progress_console, translate_chunks
from kerasnmt.cli.loading import SearchChanges, is_trained, load_translator, no_model
from kerasnmt.cli.options import (
    BeamSize,
    Columns,
    Context,
    Model,
    SearchOptions,
    Tags,
    TagsColumn,
    WithRuns,
    two_columns,
)
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.cli.requests import (
    check_fields,
    check_reads_tags,
    checked_tags,
    read_lines,
    tagged,
    text_fields,
)
from kerasnmt.text.tags import unknown_tags


def evaluate(
    model: Model,
    source: Annotated[
        Path | None, typer.Option("--source", help="File of sources, plain or compressed.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", help="File of their translations.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            help="Instead of both, a file with a source, a tab and a translation per line, or "
            ".csv or .jsonl with --columns. "
            "Consecutive lines with the same source are references of one sentence.",
        ),
    ] = None,
    columns: Columns = None,
    tags_column: TagsColumn = None,
    context: Context = None,
    tags: Tags = None,
    beam_size: BeamSize = None,
    search: SearchOptions = None,
    with_run: WithRuns = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="MODEL2|FILE",
            help="Another run, preset or export, with its own search options, or a file of another "
            "system's translations, to compare with. Paired tests tell whether the differences are "
            "significant.",
        ),
    ] = None,
    tokenize: Annotated[
        str | None,
        typer.Option(
            "--tokenize",
            metavar="NAME",
            help="Tokenizer of sacreBLEU for BLEU, such as 13a, intl, zh, ja-mecab, char or "
            "flores200. By default, it suits the script of the references.",
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Translate a file and score it: sacreBLEU and chrF with their signatures, and exact matches.

    With --baseline, each line also has the score of the baseline and p, a one-sided p-value: from
    sacreBLEU's paired bootstrap for BLEU and chrF, from the exact sign test for exact matches.
    """
    load_tensorflow()
    from kerasnmt.training import bleu_tokenizer, compared_scores, translation_scores

    sources, references = sentences_of(source, reference, pairs, context, columns, tags_column)
    contexts = read_lines("--context", context, len(sources))
    others = None
    if baseline is not None and Path(baseline).is_file():
        others = read_lines("--baseline", Path(baseline), len(sources))
    elif baseline is not None and not (Path(baseline).exists() or is_trained(baseline)):
        raise ValueError(
            "Expected a run, a preset, an export or a file of translations with --baseline. "
            f"Received: {baseline}{no_model(baseline)}"
        )
    tokenize = bleu_tokenizer(references, tokenize)
    console = progress_console()
    with console.status("loading the model"):
        translators = [load_translator(model, SearchChanges(beam_size, search, with_run))]
        if baseline is not None and others is None:
            translators.append(load_translator(baseline))
    tagged_sources = []
    for translator in translators:
        check_fields(translator.fields, text_fields(context))
        tagged_sources.append(tagged(sources, checked_tags(tags, translator)))
        if tags_column is not None:
            check_reads_tags("--tags-column", translator)
            known = translator.description.get("source_tags")
            if known is not None and (unknown := unknown_tags(sources, known)):
                warnings.warn(
                    f"the model has no tags {', '.join(unknown)}, which are in {pairs}, so it "
                    "reads them as other tokens",
                    stacklevel=2,
                )
    translations = [
        translate_chunks(translator, texts, contexts, batch_size, console)
        for translator, texts in zip(translators, tagged_sources, strict=True)
    ]
    translations += [others] if others is not None else []
    score: Callable[..., dict] = translation_scores if baseline is None else compared_scores
    results = {**score(*translations, references, tokenize=tokenize), "sentences": len(sources)}
    if as_json:
        print(json.dumps(results))
        return
    for name, label in (("bleu", "BLEU"), ("chrf", "chrF")):
        cells = [label, f"{results[name]:.2f}"]
        if baseline is not None:
            cells += [
                f"baseline {results[f'baseline_{name}']:.2f}",
                _p_text(results[f"{name}_p_value"]),
            ]
        print(*cells, results[f"{name}_signature"], sep="  ")
    cells = [f"exact  {results['exact']:.2f}%"]
    if baseline is not None:
        cells.append(f"baseline {results['baseline_exact']:.2f}%")
        cells.append(_p_text(results["exact_p_value"]))
    print(*cells, sep="  ")
    several = sum(map(len, references)) if pairs else len(sources)
    more = f" with {several:,} references" if several > len(sources) else ""
    print(f"on {len(sources):,} sentences{more}")


def _p_text(p_value: float) -> str:
    return f"p = {p_value:.4f}" if p_value >= 0.0001 else "p < 0.0001"


def sentences_of(
    source: Path | None,
    reference: Path | None,
    pairs: Path | None,
    context: Path | None,
    columns: str | None,
    tags_column: Any,
) -> tuple[list[str], list[Any]]:
    """Return the sources, and one or several references of each source."""
    from kerasnmt.data import read_parallel, read_tsv
    from kerasnmt.training import grouped, texts

    chosen = two_columns(columns)
    if pairs is None:
        if chosen is not None or tags_column is not None:
            raise ValueError("Expected --pairs FILE with --columns and --tags-column.")
        if source is None or reference is None:
            raise ValueError("Expected --source FILE with --reference FILE, or --pairs FILE.")
        return texts(read_parallel(source, reference))
    if any(file is not None for file in (source, reference, context)):
        raise ValueError("Expected --pairs FILE without --source, --reference and --context.")
    return grouped(texts(read_tsv(pairs, chosen, tags=tags_column)))
