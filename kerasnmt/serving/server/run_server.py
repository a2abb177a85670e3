"""A whole server: its applications, the web server, and the search for new versions."""

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kerasnmt.serving.runtimes.session import Session
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.serving.server.offers import Offer, Say
from kerasnmt.serving.server.page_app import PageApp
from kerasnmt.serving.server.rest_app import RestApp, route_of
from kerasnmt.serving.server.server_app import ServerApp
from kerasnmt.serving.server.server_options import ServerOptions
from kerasnmt.serving.server.web_server import web_server


def run_server(offer: Offer, about: Mapping[str, Any], options: ServerOptions, say: Say) -> int:
    """Serve a model until the process is interrupted. Predictions may still be under way then.

    Args:
        offer: The model.
        about: What the page says about the model; see `PageApp`.
        options: Address and limits.
        say: Function that reports a message.

    Returns:
        The number of requests without an answer.

    Raises:
        ValueError: If the name of the model cannot stand in an address, or the server cannot listen
            on this address.
    """
    if route_of(f"/v1/models/{offer.name}") != "status":
        raise ValueError(
            "Expected a name of the model without '/' and ':', because addresses contain it. "
            f"Received: {offer.name!r}. Pass another one with --name."
        )
    limits: dict[str, Any] = {
        "max_body_bytes": options.max_body_bytes,
        "max_text_bytes": options.max_text_bytes,
    }

    def app_of(session: Session, number: int, description: Mapping[str, Any]) -> RestApp:
        more = {"description": description, "max_batch": options.max_batch, **limits}
        return RestApp(session, offer.name, number, **more)

    current = CurrentVersion(app_of(offer.session, offer.number, offer.description))
    page = PageApp(offer.page_model(current), about, **limits) if offer.fields else None
    app = ServerApp(
        current,
        page=page,
        hosts=[options.host, socket.gethostname(), *options.allow_host],
        max_requests=options.max_requests,
        timeout=options.timeout,
        access_log=options.access_log,
    )
    server = web_server(
        app,
        options.host,
        options.port,
        max_requests=options.max_requests,
        max_body_bytes=options.max_body_bytes,
    )
    host = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{host}:{server.effective_port}"
    say(
        f"serving version {offer.number} of {offer.name} at {address}/v1/models/{offer.name}; "
        "Ctrl-C stops it"
    )
    if page:
        say(f"open {address}/ to try it")
        threading.Thread(target=page.warm_up, daemon=True).start()
    offer.watch(current, app_of, options.poll, say)
    with suppress(KeyboardInterrupt):  # a second Ctrl-C ends the waiting
        server.run()
    return len(app.unanswered)
