"""`kerasnmt export`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.about_model import about_model
from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import SearchChanges, check_exportable, is_trained, licenses_of, load_run
from kerasnmt.cli.options import BeamSize, Language, SearchOptions, Trained, WithRuns
from kerasnmt.cli.quiet import without_talk
from kerasnmt.serving.runtimes.registry import runtime_named, runtimes
from kerasnmt.serving.runtimes.runtime import OPTIONS_OF_TEXTS, lost_options


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
    language: Language = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="float32|float16|int8",
            help="Data type of the stored weights. Fewer bits make a smaller export. The default "
            "is int8 for web, and float32 for the other runtimes.",
        ),
    ] = None,
    runtime: Annotated[
        str,
        typer.Option(
            "--runtime",
            metavar="|".join(runtime.name for runtime in runtimes()),
            help=" ".join(runtime.about for runtime in runtimes()),
        ),
    ] = runtimes()[0].name,
    whole: Annotated[
        bool | None,
        typer.Option(
            "--whole",
            help="With --runtime onnx: add a graph with the search inside, for programs that have "
            "no search.",
        ),
    ] = None,
    ort: Annotated[
        Path | None,
        typer.Option(
            "--ort",
            metavar="DIR",
            help="With --runtime web: folder dist of the npm package onnxruntime-web, to copy its "
            "files into the site, which then needs no other server.",
        ),
    ] = None,
    lite: Annotated[bool, typer.Option("--lite", help="The same as --runtime litert.")] = False,
) -> None:
    """Write a version of a SavedModel for TF Serving, completely or not at all.

    With --runtime, write a folder for another program instead.
    """
    if lite and runtime not in (runtimes()[0].name, "litert"):
        raise ValueError(f"Expected one runtime. Received: --lite and --runtime {runtime}.")
    target = runtime_named("litert" if lite else runtime)
    own: dict[str, Any] = {
        name: value for name, value in (("whole", whole), ("ort", ort)) if value is not None
    }
    if others := [*own.keys() - target.own_options]:
        (owner,) = (one.name for one in runtimes() if others[0] in one.own_options)
        raise ValueError(
            f"Expected --runtime {owner} with --{others[0]}. Received: --runtime {target.name}."
        )
    check_exportable(run)
    served = directory.parent if directory.name.isdecimal() else directory
    if is_trained(served.absolute()):
        raise ValueError(
            "Expected a folder without a run or a preset. Received: "
            f"{served}, whose model would hide the export. Choose another folder."
        )
    licenses = licenses_of([str(run), *(with_run or [])])
    with progress_console().status("exporting"):
        translates = target.only_translates
        changes = SearchChanges(beam_size, search, with_run)
        model, options = load_run(run, changes, translates=translates or language is not None)
        if language is not None:
            model.set_language(language)
        asked = [name for name in OPTIONS_OF_TEXTS if options.get(name)]
        if asked and not target.splits_texts:
            options |= dict.fromkeys(asked, False)
            print(f"warning: {lost_options(asked, target.title, run)}", file=sys.stderr)
        if weights is not None:
            options["weights"] = weights
        if "about" in target.own_options:
            from kerasnmt.tasks import task_of

            about = about_model(run, task_of(model).fields, {})
            own["about"] = {"name": Path(run).absolute().name, **about}
        with without_talk():
            written = target.export(model, directory, **options, **own)
    print(written)
    for name, says in licenses:
        print(f"The export has the license of {name}: {says}", file=sys.stderr)
