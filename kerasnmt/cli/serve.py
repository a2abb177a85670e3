"""`kerasnmt serve`."""

import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from kerasnmt.cli.console import progress_console, say
from kerasnmt.cli.loading import is_trained, load_run, no_model
from kerasnmt.cli.options import Model
from kerasnmt.cli.quiet import without_talk


def serve(
    place: Model,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port, or 0 for a free port.")
    ] = 8501,
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
    ] = 64,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", min=0.001, metavar="SECONDS", help="Maximum time of a prediction."
        ),
    ] = 60.0,
    max_body_bytes: Annotated[
        int, typer.Option("--max-body-bytes", min=1, help="Maximum size of a request in bytes.")
    ] = 8 << 20,
    max_batch: Annotated[
        int, typer.Option("--max-batch", min=1, help="Maximum number of texts in a request.")
    ] = 1024,
    max_text_bytes: Annotated[
        int, typer.Option("--max-text-bytes", min=1, help="Maximum size of a text in bytes.")
    ] = 64 << 10,
    poll: Annotated[
        float,
        typer.Option(
            "--poll",
            min=0.01,
            metavar="SECONDS",
            help="Time between two checks for a new version of an export.",
        ),
    ] = 2.0,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Write a line per request to standard error.")
    ] = False,
) -> None:
    """Serve a model with the REST API of TF Serving.

    MODEL is a run, a preset, the folder of an export, whose newest version is served, the folder of
    one version, or an export for CTranslate2. In the folder of an export, a new version replaces
    the old one while the server runs. A browser shows a page at the address of the server, to try
    the model.

    If more than --max-requests predictions are under way, the next one is answered with 503, and
    the client can try it again. A prediction that takes longer than --timeout is answered with
    504. It cannot be cancelled, so it goes on, and counts as under way until it ends. The server
    also answers GET /healthz and GET /monitoring/prometheus/metrics.

    Unlike TF Serving, this server does not batch the texts of several requests, does not speak
    gRPC, and serves only one model. Ctrl-C and SIGTERM stop the server. It then finishes open
    requests for at most five seconds, and exits with 1 if some remain.
    """
    from kerasnmt.cli.about_model import about_model
    from kerasnmt.serving import RestApp
    from kerasnmt.serving.export.ctranslate2_model import is_ctranslate2
    from kerasnmt.serving.server.current_version import CurrentVersion, VersionWatcher
    from kerasnmt.serving.server.page_app import PageApp
    from kerasnmt.serving.server.server_app import ServerApp
    from kerasnmt.serving.server.web_server import web_server

    console = progress_console()
    signal.signal(signal.SIGTERM, _interrupt)
    limits = {"max_body_bytes": max_body_bytes, "max_text_bytes": max_text_bytes}
    version = None if is_trained(place) else _version(Path(place))
    if version is None:
        name, number = name or os.path.basename(os.path.abspath(place)), 1
        task = _task(place, console)
        # These import TensorFlow, which an export does not need.
        from kerasnmt.serving.server.task_page_models import page_model_of
        from kerasnmt.serving.server.task_session import TaskSession

        session: Any = TaskSession(task)
        description: dict[str, Any] = {}
    else:
        if is_ctranslate2(version):  # without versions
            name, number = name or version.name, 1
        else:
            name, number = name or version.parent.name, int(version.name)
        with console.status("loading the model"), without_talk():
            session = _session(version)
        description = _description(version, console)

    def rest_app(session: Any, number: int) -> RestApp:
        return RestApp(session, name, number, max_batch=max_batch, **limits)

    with session:
        model = CurrentVersion(rest_app(session, number))
        page = None  # for a SavedModel of others
        if version is None or description:
            page_model = page_model_of(task) if version is None else _page_model(model, version)
            about = {"name": name, **about_model(place, page_model.fields, description)}
            page = PageApp(page_model, about, **limits)
        app = ServerApp(
            model,
            page=page,
            hosts=[host, socket.gethostname(), *(allow_host or ())],
            max_requests=max_requests,
            timeout=timeout,
            access_log=sys.stderr if access_log else None,
        )
        server = web_server(
            app, host, port, max_requests=max_requests, max_body_bytes=max_body_bytes
        )
        address = f"[{host}]" if ":" in host else host
        say(
            console,
            f"serving version {number} of {name} at http://{address}:{server.effective_port}"
            f"/v1/models/{name}; Ctrl-C stops it",
        )
        if page:
            say(console, f"open http://{address}:{server.effective_port}/ to try it")
            threading.Thread(target=page.warm_up, daemon=True).start()
        if version is not None and version != Path(place).absolute():
            watcher = VersionWatcher(
                model,
                version.parent,
                lambda new: rest_app(_session(new), int(new.name)),
                lambda message: say(console, message),
            )
            threading.Thread(target=watcher.watch, args=(poll,), daemon=True).start()
        with suppress(KeyboardInterrupt):  # a second Ctrl-C ends the waiting
            server.run()
        left = len(app.unanswered)
        say(console, f"stopped; unanswered requests: {left}" if left else "stopped")
        # TensorFlow cannot cancel predictions and loading, which may still go on.
        os._exit(bool(left))


def _task(place: str, console: Console) -> Any:
    """Load a run or a preset, which is served without an export."""
    with console.status("loading the model"):
        model, options = load_run(place, translates=False)
        from kerasnmt.tasks import task_of

        return task_of(model, **options)


def _page_model(model: Any, version: Path) -> Any:
    """Return what the page asks of an export, whose version may be replaced."""
    from kerasnmt.serving.export.ctranslate2_model import is_ctranslate2
    from kerasnmt.serving.export.version_folder import read_description
    from kerasnmt.serving.server.page_models import ExportPageModel

    def read(number: int) -> dict[str, Any]:
        alone = is_ctranslate2(version)
        return read_description(version if alone else version.parent / str(number))

    return ExportPageModel(model, read)


def _description(version: Path, console: Console) -> dict[str, Any]:
    """Return the description of an export, or an empty dict if it has none for a page."""
    from kerasnmt.serving.export.version_folder import read_description

    try:
        return read_description(version)
    except ValueError as error:
        say(console, f"serving without a page: {error}")
        return {}


def _version(directory: Path) -> Path:
    """Return the folder of the version to serve.

    Raises:
        ValueError: If there is no version. The error lists the exports in the folder.
    """
    from kerasnmt.serving.export.ctranslate2_model import is_ctranslate2
    from kerasnmt.serving.export.version_folder import chosen_version, model_folders

    if is_ctranslate2(directory):
        return directory.absolute()
    version = chosen_version(directory).absolute()
    if not (version / "saved_model.pb").exists() or not version.name.isdecimal():
        exports = ", ".join(map(str, model_folders(directory)))
        below = f", which contains exports. Serve one of them: {exports}" if exports else ""
        raise ValueError(
            "Expected a run, a preset, or the folder of an export, <name> or <name>/<version>, "
            "with a saved_model.pb, or a model.bin of CTranslate2. "
            f"Received: {directory}{below or no_model(directory)}"
        )
    return version


def _session(version: Path) -> Any:
    """Load a version into a session of TensorFlow or CTranslate2."""
    from kerasnmt.serving.check.saved_model_session import SavedModelSession
    from kerasnmt.serving.export.ctranslate2_model import is_ctranslate2
    from kerasnmt.serving.export.ctranslate2_session import CTranslate2Session

    if is_ctranslate2(version):
        return CTranslate2Session(version)
    try:
        return SavedModelSession(version)
    except RuntimeError as error:
        raise ValueError(
            f"{version}: the export cannot be loaded; `kerasnmt check` shows why: {error}"
        ) from error


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt
