"""`kerasnmt server-config`."""

from pathlib import Path
from typing import Annotated

import typer


def server_config(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Parent of the folders of models, such as saved_models."
        ),
    ],
    base_path: Annotated[
        str,
        typer.Option("--base-path", metavar="PATH", help="Absolute path of DIR on the server."),
    ] = "/models",
) -> None:
    """Write models.config and batching_parameters.txt to DIR, to serve all its models at once.

    The files are for
    `tensorflow_model_server --model_config_file=… --enable_batching --batching_parameters_file=…`.
    Write them again after you add or remove a model; batching_parameters.txt stays if it is there.
    A new version of a model needs no change.
    """
    from kerasnmt.serving import write_server_config

    for path in write_server_config(directory, base_path):
        print(path)
