"""A collector on loopback.

Takes OTLP over HTTP and decodes it with the protocol's own definitions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.clock import BOUND_S


@dataclass
class Collector:
    """What arrived."""

    url: str = ""
    answer: Callable[[], int] = lambda: 200
    said: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    measured: list[ExportMetricsServiceRequest] = field(default_factory=list)
    answers: dict[str, Callable[[], int]] = field(default_factory=dict)
    """Path → what is answered there instead."""

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resource(self) -> dict[str, Any]:
        return values(self.requests[0].resource_spans[0].resource.attributes)

    @property
    def metrics(self) -> dict[str, Metric]:
        return {
            metric.name: metric
            for request in self.measured
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


def values(attributes: Any) -> dict[str, Any]:
    """Return attributes as a mapping."""
    return {item.key: _value(item.value) for item in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def collector(
    answer: Callable[[], int] = lambda: 200, said: dict[str, str] | None = None, body: bytes = b""
) -> Iterator[Collector]:
    """Run a collector that answers with the status that ``answer`` returns, whenever it returns.

    ``said`` are headers of its answer, ``body`` is the rest of it.
    """
    found = Collector(answer=answer, said=said or {}, body=body)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.paths.append(self.path)
            found.headers.append({name.lower(): value for name, value in self.headers.items()})
            if self.path.endswith("/v1/metrics"):
                measured = ExportMetricsServiceRequest()
                measured.ParseFromString(body)
                found.measured.append(measured)
            else:
                request = ExportTraceServiceRequest()
                request.ParseFromString(body)
                found.requests.append(request)
            try:
                own = found.answers.get(self.path, found.answer)
                self.send_response(own())
                for name, value in found.said.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(found.body)))
                self.end_headers()
                self.wfile.write(found.body)
            except OSError:
                pass  # nobody waits any more

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join(BOUND_S)
        server.server_close()
