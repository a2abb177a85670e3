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
    """Check that TF Serving can serve an export; exit with 1 if it cannot.

    A process without the Python package of TensorFlow loads the export with the TensorFlow C API,
    like the server, and answers requests. The answers are compared with the model's answers that
    were written with the export. The export can translate, caption images or answer questions.
    """
    if not directory.is_dir():
        raise ValueError(f"Expected the folder of an export. Received: {directory}, not a folder.")
    refuse_run(directory)
    with progress_console().status("checking"):
        load_tensorflow()
        from kerasnmt.serving import check_export

        report = check_export(directory)
    print(report)
    if not report.passed:
        raise typer.Exit(1)
