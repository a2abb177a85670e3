"""`kerasnmt check`."""

from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import progress_console
from kerasnmt.cli.loading import refuse_run
from kerasnmt.cli.quiet import load_tensorflow


def check(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="<name>/<version>, or <name> for its newest version."),
    ],
) -> None:
    """Check that a server can serve an export; exit with 1 if it cannot.

    A process loads the export like a server, and answers requests. It loads a SavedModel like TF
    Serving, without the Python package of TensorFlow. The answers are compared with the answers
    that were written with the export. The export can translate, caption images or answer questions.
    """
    if not directory.is_dir():
        raise ValueError(f"Expected the folder of an export. Received: {directory}, not a folder.")
    refuse_run(directory)
    with progress_console().status("checking"):
        from kerasnmt.serving import check_export
        from kerasnmt.serving.runtimes.registry import find_runtime

        match = find_runtime(directory)
        if match is not None and match[0].needs_tensorflow:
            load_tensorflow()
        report = check_export(directory)
    print(report)
    if not report.passed:
        raise typer.Exit(1)
