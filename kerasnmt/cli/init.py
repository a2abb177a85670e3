"""`kerasnmt init`."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import command, print_commands, print_table, progress_console, say
from kerasnmt.cli.options import Columns, TagsColumn, two_columns
from kerasnmt.cli.quiet import load_tensorflow


def init(
    source: Annotated[
        Path | None,
        typer.Option(
            "--source", metavar="FILE", help="File of sources, one per line, plain or compressed."
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--target", metavar="FILE", help="File of their translations, line by line."),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="Instead of both, a file with a source, a tab and a translation per line; or "
            ".csv or .jsonl with --columns.",
        ),
    ] = None,
    columns: Columns = None,
    tags_column: TagsColumn = None,
    validation_source: Annotated[
        Path | None,
        typer.Option(
            "--validation-source",
            metavar="FILE",
            help="File of sources for validation. Without validation data, some of the pairs are "
            "held out and written to new files next to the recipe.",
        ),
    ] = None,
    validation_target: Annotated[
        Path | None,
        typer.Option("--validation-target", metavar="FILE", help="File of their translations."),
    ] = None,
    validation_pairs: Annotated[
        Path | None,
        typer.Option("--validation-pairs", metavar="FILE", help="Instead of both, one file."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="A model of `kerasnmt models`.",
            show_default="bahdanau_gru",
        ),
    ] = None,
    init_from: Annotated[
        str | None,
        typer.Option(
            "--init-from",
            metavar="RUN_OR_PRESET",
            help="Run or preset to train further, instead of --model. 20 pairs are enough.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", metavar="RECIPE", help="File of the recipe.")
    ] = Path("recipe.yaml"),
) -> None:
    """Write a recipe for your own data, with comments, and print the next commands.

    The tokenizer, the sizes of the model and the number of epochs suit the data. No file is changed
    or replaced.
    """
    from kerasnmt.training import NewRecipe

    if model is not None and init_from is not None:
        raise ValueError(
            f"Expected --model or --init-from. Received: --model {model} and --init-from "
            f"{init_from}, which fixes the model."
        )
    chosen = two_columns(columns)
    train = _files("", chosen, tags_column, source=source, target=target, pairs=pairs)
    if train is None:
        raise ValueError("Expected --source FILE with --target FILE, or --pairs FILE.")
    if source is not None and target is not None and source.resolve() == target.resolve():
        raise ValueError(
            f"Expected two files. Received: {source} for both sides. If it has two columns, use "
            "--pairs."
        )
    validation = _files(
        "validation-",
        chosen if validation_pairs else None,
        tags_column if validation_pairs else None,
        source=validation_source,
        target=validation_target,
        pairs=validation_pairs,
    )
    console = progress_console()
    with console.status("reading the data"):
        new = NewRecipe(output, train, validation, model or "bahdanau_gru", init_from)
    say(console, f"found {new.pairs:,} pairs in {train}")
    with console.status("choosing a tokenizer and sizes"):
        load_tensorflow()
        recipe = new.write()
    _print_recipe(new, recipe)
    start = [] if init_from is None else ["--init-from", init_from]
    run, export = Path("runs", output.stem), Path("saved_models", output.stem)
    print_commands(
        "Next steps: train the model, translate a sentence, see what the model thinks in a "
        "browser, export it for TF Serving, and check the export:",
        command("kerasnmt", "train", output, *start, "--output", run),
        f"{command('echo', new.example())} | {command('kerasnmt', 'translate', run)}",
        command("kerasnmt", "serve", run),
        command("kerasnmt", "export", run, export),
        command("kerasnmt", "check", export),
    )


def _files(prefix: str, columns: Any, tags: Any, **files: Path | None) -> Any:
    """Return the files of the options `--source` and `--target`, or `--pairs`, or None."""
    from kerasnmt.training import PairFiles

    paths = {key: path for key, path in files.items() if path is not None}
    if paths and paths.keys() not in ({"source", "target"}, {"pairs"}):
        raise ValueError(
            f"Expected --{prefix}source FILE with --{prefix}target FILE, or --{prefix}pairs FILE. "
            f"Received: {' and '.join(f'--{prefix}{key}' for key in paths)}."
        )
    return PairFiles(columns, tags, **paths) if paths else None


def _print_recipe(new: Any, recipe: Any) -> None:
    """Print a summary of the recipe."""
    tokenizers = []
    for name, chosen in recipe.tokenizer.chosen.items():
        size = f", at most {chosen.vocabulary_size:,}" if chosen.vocabulary_size else ""
        tokenizers.append(f"{name}: {chosen.kind}{size}")
    training, units = recipe.training, recipe.model.keywords.get("units")
    updates = math.ceil(new.training_pairs / training.batch_size)
    print_table(
        [
            ("recipe", str(new.path)),
            ("training data", f"{new.training_pairs:,} pairs in {new.train}"),
            ("validation data", f"{new.validation_pairs:,} pairs in {new.validation}"),
            ("model", recipe.model.name + (f", {units} units" if units else "")),
            ("tokenizer", "; ".join(tokenizers)),
            ("length", f"{training.epochs} epochs, each with about {updates:,} updates"),
        ]
    )
