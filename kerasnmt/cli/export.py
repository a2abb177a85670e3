"""`kerasnmt export`."""

from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import check_exportable, load_run
from kerasnmt.cli.options import BeamSize, SearchOptions, Trained, WithRuns


def export(
    run: Trained,
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder of the served model, such as models/en_de, for its next version; or "
            "models/en_de/3 for version 3.",
        ),
    ],
    beam_size: BeamSize = None,
    search: SearchOptions = None,
    with_run: WithRuns = None,
    weights: Annotated[
        str,
        typer.Option(
            "--weights",
            metavar="float32|float16|int8",
            help="Data type of the stored weights. Fewer bits make a smaller export.",
        ),
    ] = "float32",
    lite: Annotated[
        bool,
        typer.Option(
            "--lite",
            help="Write a LiteRT model instead, with token ids as inputs and outputs. DIR must "
            "not exist.",
        ),
    ] = False,
) -> None:
    """Write a version of a SavedModel for TF Serving, completely or not at all."""
    check_exportable(run)
    with progress_console().status("exporting"):
        # First, because it loads TensorFlow without messages.
        model, options = load_run(run, with_run, search, beam_size=beam_size, translates=lite)
        from kerasnmt.serving import export_lite, export_model, export_next_version

        if lite and options.pop("replace_unknown", False):
            raise ValueError(
                "Expected a recipe without search.replace_unknown, because LiteRT models do not "
                f"return attention weights. Received: {run}"
            )
        if lite:
            write = export_lite
        else:
            write = export_model if directory.name.isdecimal() else export_next_version
        written = write(model, directory, weights=weights, **options)
    print(written)
