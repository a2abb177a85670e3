"""Metrics of a server, in the text format of Prometheus."""

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

# Upper bounds in seconds: from a short text on an idle machine to the time limit.
_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Metrics of one server.

    Attributes:
        content_type: Content type of the text.
        requests: Requests by `route` and `status`.
        seconds: Histogram of the seconds from a complete request to its answer, by `route`.
        under_way: Predictions under way.
        refused: Predictions that were refused because too many were under way.
        version: Version of each `model`.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)  # start, memory, CPU seconds and open files
        self.requests = Counter(
            "kerasnmt_requests", "Requests.", ["route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "kerasnmt_request_seconds",
            "Seconds from a complete request to its answer.",
            ["route"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self.under_way = Gauge(
            "kerasnmt_predictions_under_way",
            "Predictions under way, including those that have exceeded the time limit.",
            registry=registry,
        )
        self.refused = Counter(
            "kerasnmt_predictions_refused",
            "Predictions refused because too many were under way.",
            registry=registry,
        )
        self.version = Gauge(
            "kerasnmt_model_version", "Version of the model.", ["model"], registry=registry
        )

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
