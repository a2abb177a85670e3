"""Application of a whole server."""

import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from datetime import datetime
from ipaddress import ip_address
from typing import Any, TextIO
from urllib.parse import urlsplit

from werkzeug.exceptions import (
    Forbidden,
    GatewayTimeout,
    HTTPException,
    InternalServerError,
    MethodNotAllowed,
    ServiceUnavailable,
)
from werkzeug.wrappers import Request, Response
from werkzeug.wsgi import ClosingIterator, host_is_trusted

from kerasnmt.serving.server.answers import error_answer
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.serving.server.metrics import Metrics
from kerasnmt.serving.server.rest_app import route_of
from kerasnmt.serving.server.streams import event

METRICS_PATH = "/monitoring/prometheus/metrics"  # as in TF Serving

App = Callable[[dict[str, Any], Any], Iterable[bytes]]


class ServerApp:
    """WSGI application of a whole server: routes, limits, metrics and access log.

    - `GET /healthz` returns `ok`.
    - `GET /monitoring/prometheus/metrics` returns metrics in the text format of Prometheus.
    - `/` and the paths below `/page/` belong to `page`, if there is one.
    - All other paths belong to the REST API of the model; see `RestApp`.

    A `POST` is a prediction. At most `max_requests` predictions are under way; one more is answered
    with 503. A prediction that takes longer than `timeout` is answered with 504. TensorFlow cannot
    cancel a run, so the prediction goes on, and counts as under way until it ends. A stream ends
    with an error after the step that exceeds `timeout`, and when its client goes away. All errors
    are `{"error": message}`.

    A request for a host that is not allowed is answered with 403. A web page can point its own name
    at this machine, and then read the answers of a server here (DNS rebinding). The browser sends
    this name as `Host`. IP addresses are allowed, because nobody can point them at another machine.

    Args:
        model: The version of a model that is served.
        page: WSGI application of a page. Its `POST`s are predictions, too.
        hosts: Names by which clients may address the server, in addition to `localhost`. A name
            that starts with a dot stands for all its subdomains.
        max_requests: Maximum number of predictions under way.
        timeout: Maximum number of seconds of a prediction.
        access_log: File for one line per request, or None.

    Attributes:
        unanswered: Requests that are being answered.
    """

    def __init__(
        self,
        model: CurrentVersion,
        *,
        page: App | None = None,
        hosts: Iterable[str] = (),
        max_requests: int = 64,
        timeout: float = 60.0,
        access_log: TextIO | None = None,
    ) -> None:
        self._model, self._page = model, page
        self._hosts = ["localhost", *map(str.lower, hosts)]
        try:
            for host in self._hosts:
                host.removeprefix(".").partition(":")[0].encode("idna")
        except UnicodeError as error:
            raise ValueError(
                f"Expected names of hosts. Received: {', '.join(self._hosts[1:])}: {error}."
            ) from error
        self._max_requests, self._timeout = max_requests, timeout
        self._access_log = access_log
        self.unanswered: set[Request] = set()
        self._metrics = Metrics()
        self._slots = threading.Semaphore(max_requests)
        # TensorFlow keeps some memory for each thread, so threads are used again.
        self._pool = ThreadPoolExecutor(max_requests, "prediction")

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one WSGI request."""
        begin = time.perf_counter()
        request = Request(environ)
        self.unanswered.add(request)
        route, answer = self._route(request.path)
        try:
            self._check_host(environ.get("HTTP_HOST"))
            response = answer(request)
        except HTTPException as error:
            response = error_answer(error)
        except Exception:
            traceback.print_exc()
            response = error_answer(InternalServerError())

        def answered() -> None:
            seconds = time.perf_counter() - begin
            self._metrics.requests.labels(route, response.status_code).inc()
            self._metrics.seconds.labels(route).observe(seconds)
            if self._access_log:
                with suppress(OSError):  # a log that nobody reads any more must not end the service
                    self._access_log.write(_log_line(request, response.status_code, seconds))
                    self._access_log.flush()
            self.unanswered.discard(request)

        with ExitStack() as ending:
            ending.callback(answered)
            if response.is_streamed:
                response.call_on_close(ending.pop_all().close)
        return response(environ, start_response)

    def _route(self, path: str) -> tuple[str, Callable[[Request], Response]]:
        """Return the name of a route, and the function that answers it."""
        if path == "/healthz":
            return "healthz", self._health
        if path == METRICS_PATH:
            return "metrics", self._measured
        if self._page is not None and (path == "/" or path.startswith("/page/")):
            page = self._page
            return "page", lambda request: self._answer(page, request)
        return route_of(path), lambda request: self._answer(self._model, request)

    def _check_host(self, host: str | None) -> None:
        """Check the header `Host`, which all browsers send."""
        if host and not self._is_allowed(host.lower()):
            raise Forbidden(
                f"Expected a host that this server allows. Received: {host}. Start the server with "
                "--allow-host and the name to allow it."
            )

    def _is_allowed(self, host: str) -> bool:
        """Return whether clients may address the server by a value of `Host`."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        # Werkzeug knows no underscores, which names of containers have.
        exact = name.rstrip(".") in self._hosts
        return exact or _is_address(host) or host_is_trusted(host, self._hosts)

    def _health(self, request: Request) -> Response:
        _need_get(request)
        return Response("ok\n")

    def _measured(self, request: Request) -> Response:
        _need_get(request)
        self._metrics.version.labels(self._model.name).set(self._model.version)
        return Response(self._metrics.text(), content_type=self._metrics.content_type)

    def _answer(self, app: App, request: Request) -> Response:
        if request.method != "POST":
            return Response.from_app(app, request.environ, buffered=True)
        if not self._slots.acquire(blocking=False):
            self._metrics.refused.inc()
            raise ServiceUnavailable(
                f"Expected at most {self._max_requests} predictions under way. Try again later.",
                retry_after=1,
            )
        self._metrics.under_way.inc()
        if route_of(request.path) == "stream":
            return self._streamed(app, request.environ)
        prediction = self._pool.submit(self._predict, app, request.environ)
        if wait([prediction], self._timeout).not_done:
            raise GatewayTimeout(
                f"The prediction takes longer than {self._timeout:g} seconds. It goes on, and "
                "counts as under way until it ends."
            )
        return prediction.result()

    def _predict(self, app: App, environ: dict[str, Any]) -> Response:
        try:
            return Response.from_app(app, environ, buffered=True)
        finally:
            self._end()

    def _streamed(self, app: App, environ: dict[str, Any]) -> Response:
        """Return an answer that the server's thread makes piece by piece.

        If the client goes away, the server closes the answer, which ends the prediction.
        """
        with ExitStack() as ending:
            ending.callback(self._end)
            response: Any = Response.from_app(app, environ)
            ending.callback(response.response.close)
            end = ending.pop_all().close  # has an effect only once
            response.response = ClosingIterator(self._in_time(response.response, end), end)
            return response

    def _in_time(self, pieces: Iterable[Any], end: Callable[[], None]) -> Iterator[Any]:
        """Yield the pieces of a stream, and an error if they take too long; and end it."""
        latest = time.perf_counter() + self._timeout
        try:
            for piece in pieces:
                if time.perf_counter() > latest:
                    message = f"The prediction takes longer than {self._timeout:g} seconds."
                    yield event({"error": message}, "error")
                    return
                yield piece
        finally:
            end()

    def _end(self) -> None:
        self._metrics.under_way.dec()
        self._slots.release()


def _is_address(host: str) -> bool:
    """Return whether a value of the header `Host` is an IP address, with or without a port."""
    try:
        ip_address(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False
    return True


def _need_get(request: Request) -> None:
    if request.method not in ("GET", "HEAD"):
        raise MethodNotAllowed(["GET", "HEAD"], f"Expected GET. Received: {request.method}")


def _log_line(request: Request, status: int, seconds: float) -> str:
    now = datetime.now().astimezone().isoformat(timespec="milliseconds")
    request_line = f"{request.method} {request.path}".encode("unicode_escape").decode()
    return f"{now} {request.remote_addr} {request_line} {status} {1000 * seconds:.1f} ms\n"
