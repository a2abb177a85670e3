"""`kerasnmt evaluate`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import progress_console, translate_chunks
from kerasnmt.cli.loading import load_translator
from kerasnmt.cli.options import BeamSize, Context, SearchOptions, WithRuns
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.cli.requests import check_fields, read_contexts


def evaluate(
    model: Annotated[
        Path, typer.Argument(metavar="RUN_OR_EXPORT", help="Folder of a run, or of an export.")
    ],
    source: Annotated[Path, typer.Option("--source", help="File of sources; plain or .gz.")],
    reference: Annotated[Path, typer.Option("--reference", help="File of their translations.")],
    context: Context = None,
    beam_size: BeamSize = None,
    search: SearchOptions = None,
    with_run: WithRuns = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Translate a file and score it: sacreBLEU and chrF with their signatures."""
    load_tensorflow()
    from kerasnmt.data import read_parallel
    from kerasnmt.training import texts, translation_scores

    sources, references = texts(read_parallel(source, reference))
    contexts = read_contexts(context, len(sources))
    console = progress_console()
    with console.status("loading the model"):
        translator = load_translator(model, beam_size, others=with_run, search=search)
    check_fields(translator.fields, ("text", "context")[: 1 + (context is not None)])
    translations = translate_chunks(translator, sources, contexts, batch_size, console)
    results = {**translation_scores(translations, references), "sentences": len(sources)}
    if as_json:
        print(json.dumps(results))
        return
    for name, label in (("bleu", "BLEU"), ("chrf", "chrF")):
        print(f"{label}  {results[name]:.2f}  {results[f'{name}_signature']}")
    print(f"on {len(sources):,} sentences")
