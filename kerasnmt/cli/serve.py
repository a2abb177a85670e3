"""`kerasnmt serve`."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from kerasnmt.cli.console import progress_console, say
from kerasnmt.cli.loading import is_trained, load_run, no_model
from kerasnmt.cli.options import Model
from kerasnmt.cli.quiet import without_talk
from kerasnmt.serving.server.server_options import ServerOptions

_DEFAULTS = ServerOptions()


def serve(
    path: Model,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = _DEFAULTS.host,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port, or 0 for a free port.")
    ] = _DEFAULTS.port,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name by which clients may address the server, in addition to localhost, "
            "IP addresses and the name of this machine; repeatable.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the model.", show_default="its folder's")
    ] = None,
    max_requests: Annotated[
        int,
        typer.Option("--max-requests", min=1, help="Maximum number of predictions under way."),
    ] = _DEFAULTS.max_requests,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", min=0.001, metavar="SECONDS", help="Maximum time of a prediction."
        ),
    ] = _DEFAULTS.timeout,
    max_body_bytes: Annotated[
        int, typer.Option("--max-body-bytes", min=1, help="Maximum size of a request in bytes.")
    ] = _DEFAULTS.max_body_bytes,
    max_batch: Annotated[
        int, typer.Option("--max-batch", min=1, help="Maximum number of texts in a request.")
    ] = _DEFAULTS.max_batch,
    max_text_bytes: Annotated[
        int, typer.Option("--max-text-bytes", min=1, help="Maximum size of a text in bytes.")
    ] = _DEFAULTS.max_text_bytes,
    poll: Annotated[
        float,
        typer.Option(
            "--poll",
            min=0.01,
            metavar="SECONDS",
            help="Time between two checks for a new version of an export.",
        ),
    ] = _DEFAULTS.poll,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Write a line per request to standard error.")
    ] = False,
) -> None:
    """Serve a model with the REST API of TF Serving.

    MODEL is a run, a preset, or an export: a folder whose newest version is served, the folder of
    one version, or an export for another runtime. In the folder of an export, a new version
    replaces the old one while the server runs. A browser shows a page at the address of the server,
    to try the model.

    If more than --max-requests predictions are under way, the next one is answered with 503, and
    the client can try it again. A prediction that takes longer than --timeout is answered with
    504. It cannot be cancelled, so it goes on, and counts as under way until it ends. The server
    also answers GET /healthz and GET /monitoring/prometheus/metrics.

    Unlike TF Serving, this server does not batch the texts of several requests, does not speak
    gRPC, and serves only one model. Ctrl-C and SIGTERM stop the server. It then finishes open
    requests for at most five seconds, and exits with 1 if some remain.
    """
    from kerasnmt.cli.about_model import about_model
    from kerasnmt.serving.server.run_server import run_server

    console = progress_console()
    signal.signal(signal.SIGTERM, _interrupt)
    options = ServerOptions(
        host=host,
        port=port,
        allow_host=allow_host or (),
        max_requests=max_requests,
        timeout=timeout,
        max_body_bytes=max_body_bytes,
        max_batch=max_batch,
        max_text_bytes=max_text_bytes,
        poll=poll,
        access_log=sys.stderr if access_log else None,
    )
    offer = _offer(path, name, console)
    about = {"name": offer.name, **about_model(path, offer.fields, offer.description)}
    left = run_server(offer, about, options, lambda message: say(console, message))
    say(console, f"stopped; unanswered requests: {left}" if left else "stopped")
    # TensorFlow cannot cancel predictions and loading, which may still go on.
    os._exit(bool(left))


def _offer(path: str, name: str | None, console: Console) -> Any:
    """Load a run or a preset, which is served without an export, or an export.

    Raises:
        ValueError: If there is no model. The error lists the exports in the folder.
    """
    from kerasnmt.serving.runtimes.registry import export_folders, find_runtime, runtimes
    from kerasnmt.serving.server.offers import ExportOffer, TaskOffer

    if is_trained(path):
        with console.status("loading the model"):
            model, options = load_run(path, translates=False)
            from kerasnmt.tasks import task_of

            task = task_of(model, **options)
            return TaskOffer(task, name or os.path.basename(os.path.abspath(path)))
    directory = Path(path).absolute()
    match = find_runtime(directory)
    if match is None:
        exports = ", ".join(map(str, export_folders(path)))
        below = f", which contains exports. Serve one of them: {exports}" if exports else ""
        marks = " or a ".join(runtime.mark for runtime in runtimes())
        raise ValueError(
            f"Expected a run, a preset, or the folder of an export, with a {marks}. "
            f"Received: {path}{below or no_model(path)}"
        )
    runtime, export = match
    with console.status("loading the model"), without_talk():
        return ExportOffer(
            runtime,
            export,
            name,
            watched=export != directory,
            say=lambda message: say(console, message),
        )


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt
