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

    A process without Python's TensorFlow loads the export through the TensorFlow C API, like the
    server, and answers requests. The answers are compared with the model's own, which were written
    with the export. The check works for exports that translate, caption images or answer questions.
    """
    if not directory.is_dir():
        raise ValueError(f"Expected the folder of an export. Received: {directory}, which is none.")
    refuse_run(directory)
    with progress_console().status("checking"):
        load_tensorflow()
        from kerasnmt.serving import check_export

        report = check_export(directory)
    print(report)
    if not report.passed:
        raise typer.Exit(1)
