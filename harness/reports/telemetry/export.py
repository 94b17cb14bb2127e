"""Sends a log over OTLP/HTTP as traces and metrics; a command waits at most a few seconds for it.

The standard variables hold: ``OTEL_EXPORTER_OTLP_ENDPOINT``, ``…_HEADERS``, ``…_TRACES_ENDPOINT``,
``…_METRICS_ENDPOINT``, ``OTEL_METRICS_EXPORTER=none``, ``OTEL_SERVICE_NAME``,
``OTEL_RESOURCE_ATTRIBUTES`` and their like. No provider is set up for the
process: ``mcp`` has spans of its own for every request, which stay unset, so that each call is one
span.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import field
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from harness.base import KNOWN, UsageError, find_proxy, is_web_address, shorten_text
from harness.reports.build import build_report
from harness.reports.telemetry.conventions import SCHEMA_URL
from harness.reports.telemetry.metrics import MetricsTally
from harness.reports.telemetry.spans import Span, Trace, build_trace
from harness.runlog import RunLog
from harness.types import dataclass
from harness.version import DISTRIBUTION, __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

DEADLINE_S = 5.0
"""How long a slow or absent collector may delay a command."""
_REQUEST_S = 10.0
"""How long one request may take, with all its attempts, unless the environment says: OTLP's own
default."""
_BATCH = 256
"""Maximum number of spans in one request."""
_PATH, _METRICS_PATH = "/v1/traces", "/v1/metrics"
_DEFAULT = "http://localhost:4318"
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryRequest:
    """Where traces are sent, and whether with content."""

    endpoint: str | None = None
    """The collector's URL, with or without ``/v1/traces``; ``None`` is what the environment says,
    else ``http://localhost:4318``."""
    content: bool = False
    """Whether to send messages, arguments and results too."""

    def __post_init__(self) -> None:
        """Refuse settings that cannot work, before anything is run.

        Raises:
            UsageError: the endpoint is no URL, the packages that send are not installed, or the
                environment names a proxy that cannot be used.
        """
        if self.endpoint is not None and not is_web_address(self.endpoint):
            raise UsageError(
                f"--otel {self.endpoint!r} is not the URL of a collector",
                meant="Write --otel=http://localhost:4318, or --otel alone for "
                "$OTEL_EXPORTER_OTLP_ENDPOINT. A SUITE goes ahead of it.",
            )
        if not _is_installed():
            raise UsageError(
                "OpenTelemetry's exporter is not installed",
                meant=f'Install it: pip install "{DISTRIBUTION}[otel]"',
            )
        find_proxy(self.url, socks="socks")

    @property
    def url(self) -> str:
        """The URL of the requests."""
        named = None if self.endpoint else os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        base = self.endpoint or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _DEFAULT
        return named or base.rstrip("/").removesuffix(_PATH) + _PATH

    @property
    def metrics_url(self) -> str | None:
        """The URL of metrics; ``None`` where the environment says that none are to be sent.

        An environment that only names a place for traces has none for metrics.
        """
        if os.environ.get("OTEL_METRICS_EXPORTER", "").strip().lower() == "none":
            return None
        named = os.environ.get("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
        if self.endpoint is None and named:
            return named
        base = self.endpoint or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        if base is None and os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
            return None
        return (base or _DEFAULT).rstrip("/").removesuffix(_PATH) + _METRICS_PATH


def _is_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    # `find_spec` imports the packages above the one that is looked for, and raises if they lack.
    except ModuleNotFoundError:
        return False


class ExportResult(NamedTuple):
    """The result of an export."""

    sent: bool
    """Whether the collector accepted everything."""
    sentence: str
    """One sentence for people: how much was sent where, or why it failed."""


def export_log(
    log: RunLog, request: TelemetryRequest, deadline_s: float = DEADLINE_S
) -> ExportResult:
    """Send a trace for every trial of ``log`` that was started, and metrics of all.

    A failure is reported in the sentence only; no result depends on it.
    """
    # Less than the deadline, so that the exporter's own reason is known before it.
    sending = _Exporter(log, request, timeout_s=min(deadline_s * 0.8, _REQUEST_S))
    # A thread that nobody waits for: a collector that never answers cannot hold up the end of the
    # process.
    thread = threading.Thread(target=sending.run, name="telemetry", daemon=True)
    thread.start()
    thread.join(deadline_s)
    where = KNOWN.redact_text(request.url)
    if thread.is_alive():
        sending.stopped = True
        late = f"it took longer than {deadline_s:g} s"
        sending.failure = f"{late}, and {sending.spans} spans were sent by then"
    if sending.failure is not None:
        failed = f"The traces could not be sent to {where}: {sending.failure}."
        return ExportResult(sent=False, sentence=failed)
    traces = f"{sending.traces} trace{'' if sending.traces == 1 else 's'} ({sending.spans} spans)"
    metrics = f"; {KNOWN.redact_text(sending.metrics)}" if sending.metrics else ""
    return ExportResult(sent=True, sentence=f"{traces} sent to {where}{metrics}")


@dataclass(slots=True)
class _Exporter:
    """The exporting thread's work, and its progress."""

    log: RunLog
    request: TelemetryRequest
    timeout_s: float
    traces: int = 0
    spans: int = 0
    metrics: str = ""
    """What came of the metrics, in words; empty if none are to be sent."""
    failure: str | None = None
    stopped: bool = False
    said: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Send it all; never raises."""
        try:
            with _LogCapture(self.said):
                self._send()
        except Exception as error:  # noqa: BLE001 - nothing that telemetry does may touch a run
            self.failure = KNOWN.redact_text(f"{type(error).__name__}: {error}")

    def _send(self) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        from harness.reports.telemetry.collector import CollectorSession, send_metrics

        # With `None`, the exporter reads them itself.
        timeout_s = None if any(name in os.environ for name in _TIMEOUTS) else self.timeout_s
        session, tally = CollectorSession(), MetricsTally(self.log.header.models)
        resource = _build_resource()
        scope = InstrumentationScope("harness", __version__, SCHEMA_URL)
        exporter: SpanExporter = OTLPSpanExporter(
            endpoint=self.request.url, timeout=timeout_s, session=session
        )
        try:
            for batch in self._iterate_batches(tally, resource, scope):
                if self.stopped:
                    return
                outcome = exporter.export(batch)
                if outcome is not SpanExportResult.SUCCESS or session.problem is not None:
                    # What it says last is that it gives up.
                    why = session.problem or (self.said[0] if self.said else "refused")
                    self.failure = KNOWN.redact_text(shorten_text(why, 300)).rstrip(".")
                    return
                self.spans += len(batch)
        finally:
            exporter.shutdown()
        # The metrics only once the traces were taken: a failure is told beside them. An export that
        # was given up has been reported by now, and is not to go on.
        url = self.request.metrics_url
        if url is None or self.stopped:
            return
        header, footer = self.log.header, self.log.footer
        ended = [result.finished_at for result in self.log.results if result.finished_at]
        end = max(ended, default=header.started_at) if footer is None else footer.finished_at
        times = header.started_at, end
        said = send_metrics(tally.iterate_metrics(), url, timeout_s, resource, scope, times)
        self.metrics = shorten_text(said, 300)

    def _iterate_batches(
        self, tally: MetricsTally, resource: Resource, scope: InstrumentationScope
    ) -> Iterator[Sequence[ReadableSpan]]:
        """Yield the spans of the log, a trial at a time: a long log is never held in memory."""
        waiting: list[ReadableSpan] = []
        for result in build_report(self.log).results:  # some verdicts take several trials
            transcript = self.log.read_transcript(result.key)
            tally.add(result, transcript)
            if transcript is None:
                continue
            run_id, model = self.log.header.run_id, self.log.header.models.get(result.model, {})
            trace = build_trace(run_id, result, transcript, model, content=self.request.content)
            self.traces += 1
            waiting += [_build_readable_span(trace, span, resource, scope) for span in trace.spans]
            while len(waiting) >= _BATCH:
                yield waiting[:_BATCH]
                waiting = waiting[_BATCH:]
        if waiting:
            yield waiting


def _build_resource() -> Resource:
    from opentelemetry.sdk.resources import Resource

    known = Resource.create()
    # The SDK's default is `unknown_service`, with the name of the program where it knows it.
    name = str(known.attributes.get("service.name", "unknown_service"))
    unnamed = name.startswith("unknown_service")
    return known.merge(Resource({"service.name": "harness"})) if unnamed else known


def _build_readable_span(
    trace: Trace, span: Span, resource: Resource, scope: InstrumentationScope
) -> ReadableSpan:
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def build_context(span_id: int) -> SpanContext:
        return SpanContext(
            trace.trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED)
        )

    return ReadableSpan(
        name=span.name,
        context=build_context(span.span_id),
        parent=None if span.parent_id is None else build_context(span.parent_id),
        resource=resource,
        attributes=dict(span.attributes),
        events=[Event(event.name, dict(event.attributes), event.at_ns) for event in span.events],
        kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.failed)
        if span.failed is not None
        else Status(StatusCode.OK if span.passed else StatusCode.UNSET),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=scope,
    )


class _LogCapture(logging.Handler):
    """Keeps what the exporter logs to itself: the user is told once, and in a sentence."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said
        self._logger = logging.getLogger("opentelemetry")
        self._propagated = self._logger.propagate

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(record.getMessage())

    def __enter__(self) -> None:
        self._logger.addHandler(self)
        self._logger.propagate = False

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = self._propagated
