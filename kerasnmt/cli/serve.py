"""`kerasnmt serve`."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from kerasnmt.cli.console import progress_console, say
from kerasnmt.cli.loading import check_exportable, is_trained, load_run, no_model
from kerasnmt.cli.options import Model
from kerasnmt.cli.quiet import without_talk


def serve(
    place: Model,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port, or 0 for a free port.")
    ] = 8501,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the model.", show_default="its folder's")
    ] = None,
    max_body_bytes: Annotated[
        int, typer.Option("--max-body-bytes", min=1, help="Maximum size of a request in bytes.")
    ] = 8 << 20,
    max_batch: Annotated[
        int, typer.Option("--max-batch", min=1, help="Maximum number of texts in a request.")
    ] = 1024,
    max_text_bytes: Annotated[
        int, typer.Option("--max-text-bytes", min=1, help="Maximum size of a text in bytes.")
    ] = 64 << 10,
) -> None:
    """Serve a model for development, with the REST API of TF Serving.

    MODEL is the folder of an export, for its newest version, or the folder of a version. A run or a
    preset is first exported to a temporary folder.

    Unlike TF Serving, this server does not batch requests, load new versions or support gRPC.
    Ctrl-C and SIGTERM stop the server. It then finishes open requests for at most eight seconds,
    and exits with 1 if some remain.
    """
    from kerasnmt.serving import RestApp
    from kerasnmt.serving.server.development_server import development_server

    console = progress_console()
    signal.signal(signal.SIGTERM, _interrupt)
    with _opened(place, console) as (version, session):
        name = name or version.parent.name
        limits = {
            "max_body_bytes": max_body_bytes,
            "max_batch": max_batch,
            "max_text_bytes": max_text_bytes,
        }
        app = RestApp(session, name, int(version.name), **limits)
        server = development_server(app, host, port)
        address = f"[{host}]" if ":" in host else host
        say(
            console,
            f"serving version {version.name} of {name} at http://{address}:{server.port}"
            f"/v1/models/{name}, for development; Ctrl-C stops it",
        )
        with suppress(KeyboardInterrupt):  # a second Ctrl-C ends the waiting
            server.serve_forever()
        if server.unanswered:
            say(console, f"stopped; unanswered requests: {server.unanswered}")
            os._exit(1)  # a running session cannot be closed
    say(console, "stopped")


@contextmanager
def _opened(place: str, console: Console) -> Iterator[tuple[Path, Any]]:
    """Yield the folder of a version, and a session that has loaded it.

    A run or a preset is exported to a temporary folder, which is removed after loading.
    """
    with ExitStack() as stack:
        if is_trained(place):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            version = _exported(place, Path(folder), console)
        else:
            version = _version(Path(place))
        session = _session(version, console)
    with session:
        yield version, session


def _exported(place: str, folder: Path, console: Console) -> Path:
    """Export a run or a preset to a folder, and return the folder of the version."""
    check_exportable(place)
    with console.status("exporting"):
        model, options = load_run(place, translates=False)
        version = folder / os.path.basename(os.path.abspath(place)) / "1"
        model.export(str(version), **options)
    return version


def _version(directory: Path) -> Path:
    """Return the folder of the version to serve.

    Raises:
        ValueError: If there is no version. The error lists the exports in the folder.
    """
    from kerasnmt.serving.export.version_folder import chosen_version, model_folders

    version = chosen_version(directory).absolute()
    if not (version / "saved_model.pb").exists() or not version.name.isdecimal():
        exports = ", ".join(map(str, model_folders(directory)))
        below = f", which contains exports. Serve one of them: {exports}" if exports else ""
        raise ValueError(
            "Expected a run, a preset, or the folder of an export, <name> or <name>/<version>, "
            f"with a saved_model.pb. Received: {directory}{below or no_model(directory)}"
        )
    return version


def _session(version: Path, console: Console) -> Any:
    """Load a version into a TensorFlow session."""
    from kerasnmt.serving.check.saved_model_session import SavedModelSession

    try:
        with console.status("loading the model"), without_talk():
            return SavedModelSession(version)
    except RuntimeError as error:
        raise ValueError(
            f"{version}: the export cannot be loaded; `kerasnmt check` shows why: {error}"
        ) from error


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt
