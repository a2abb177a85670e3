"""`kerasnmt export`."""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import check_exportable, load_run
from kerasnmt.cli.options import BeamSize, SearchOptions, Trained, WithRuns


class Runtime(StrEnum):
    """Program that runs an export."""

    TENSORFLOW = "tensorflow"
    CTRANSLATE2 = "ctranslate2"
    LITERT = "litert"


def export(
    run: Trained,
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder of the served model, such as models/en_de, for its next version; or "
            "models/en_de/3 for version 3. Another runtime than tensorflow has no versions, and "
            "DIR must not exist.",
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
    runtime: Annotated[
        Runtime,
        typer.Option(
            "--runtime",
            help="tensorflow writes a SavedModel. ctranslate2 is the fastest on a CPU, for "
            "Transformers, with float32 or int8 weights. litert runs on small devices, with token "
            "ids as inputs and outputs.",
        ),
    ] = Runtime.TENSORFLOW,
    lite: Annotated[bool, typer.Option("--lite", help="The same as --runtime litert.")] = False,
) -> None:
    """Write a version of a SavedModel for TF Serving, completely or not at all.

    With --runtime, write a folder for another program instead.
    """
    runtime = Runtime.LITERT if lite else runtime
    check_exportable(run)
    with progress_console().status("exporting"):
        # First, because it loads TensorFlow without messages.
        translates = runtime is not Runtime.TENSORFLOW
        model, options = load_run(run, with_run, search, beam_size=beam_size, translates=translates)
        from kerasnmt import serving

        if runtime is Runtime.LITERT and options.pop("replace_unknown", False):
            raise ValueError(
                "Expected a recipe without search.replace_unknown, because LiteRT models do not "
                f"return attention weights. Received: {run}"
            )
        if translates and options.pop("split_sentences", False):
            print(
                f"warning: exports for {runtime.value} do not split texts into sentences, as {run} "
                "does",
                file=sys.stderr,
            )
        write: Callable[..., str]
        if runtime is Runtime.LITERT:
            write = serving.export_lite
        elif runtime is Runtime.CTRANSLATE2:
            write = serving.export_ctranslate2
        elif directory.name.isdecimal():
            write = serving.export_model
        else:
            write = serving.export_next_version
        written = write(model, directory, weights=weights, **options)
    print(written)
