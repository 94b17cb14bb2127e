"""Sends to a collector, and checks its answer.

The exporter takes every status below 400 for success. Importing this module loads the exporter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.export import Metric as SdkMetric
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from harness.base import find_proxy, named_certificates
from harness.reports.telemetry.conventions import SCHEMA_URL
from harness.reports.telemetry.metrics import Metric

_SUCCESS = range(200, 300)
_MOST_UNANSWERED = 3
"""Attempts to reach a collector that has never answered. The exporter itself tries twice at once
and again a second later; six more would take half a minute."""
_ERRNO = re.compile(r"\[Errno -?\d+\] (?P<words>[^'\")]+)")


class CollectorSession(requests.Session):
    """Sends to one collector without redirects, and records whether it accepted everything."""

    def __init__(self, what: str = "spans") -> None:
        """``what`` is what it receives, in a word."""
        super().__init__()
        self._what = what
        self.problem: str | None = None
        """Why something was rejected although the exporter counts it as accepted; the first
        reason."""
        self.status: int | None = None
        """The status of the last answer; ``None`` without any."""
        self._unanswered = 0

    def merge_environment_settings(self, url: Any, *settings: Any) -> Any:
        """Return the settings of a request to ``url``: the proxy and certificates of `network`."""
        merged = dict(super().merge_environment_settings(url, *settings))
        proxy = find_proxy(str(url), socks="socks")
        merged["proxies"] = {} if proxy is None else {urlsplit(str(url)).scheme: proxy.url}
        # Anything else was named by a variable of OpenTelemetry or of requests.
        if merged["verify"] is True:
            merged["verify"] = named_certificates() or True
        return merged

    def send(self, request: requests.PreparedRequest, **settings: Any) -> requests.Response:
        """Send one request without redirects, which could turn it into a GET or lead elsewhere.

        Raises:
            requests.RequestException: there is no answer; a `requests.ConnectionError` is worth
                another attempt.
        """
        try:
            response = super().send(request, **{**settings, "allow_redirects": False})
        except requests.ConnectionError as error:
            self._unanswered += 1
            if self.status is not None or self._unanswered < _MOST_UNANSWERED:
                raise
            self.problem = f"nobody answers there: {_format_reason(error)}"
            # Of another class than before, since the exporter tries again after a
            # `ConnectionError`.
            raise requests.RequestException(self.problem) from error
        self.status = response.status_code
        self.problem = self.problem or _format_problem(response, self._what)
        return response


def _format_reason(error: requests.ConnectionError) -> str:
    """Return the reason alone: the message has the address separately, without its password."""
    if isinstance(error, requests.Timeout):
        return "no connection in time"
    found = _ERRNO.search(str(error))
    return found["words"] if found else "no connection"


def _format_problem(response: requests.Response, what: str) -> str | None:
    status = response.status_code
    if status not in _SUCCESS:
        if status >= 400:  # noqa: PLR2004 - the exporter's own to tell
            return None
        to = urlsplit(response.headers.get("location", ""))
        host = f"{to.scheme}://{to.netloc.rpartition('@')[2]}" if to.netloc else ""
        return f"HTTP {status}: a redirect to {host}{to.path}, which is not followed"
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        return "a web page answered, and no collector"
    return _format_rejection(response.content, what) if kind == "application/x-protobuf" else None


def _format_rejection(content: bytes, what: str) -> str | None:
    """Return the collector's reason for what it rejected."""
    # the answer for metrics has the same fields, with the same numbers
    answer = ExportTraceServiceResponse()
    try:
        answer.ParseFromString(content)
    except DecodeError:
        return "the answer is none of a collector"
    partial = answer.partial_success
    reason = partial.error_message or "it does not say why"
    refused = f"the collector refused {partial.rejected_spans} {what}: {reason}"
    return refused if partial.rejected_spans else None


_TAKES_NONE = (404, 405, 501)
"""Statuses of a collector that does not accept metrics, for example one for traces only."""
_TEMPORALITY = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"


def send_metrics(
    metrics: Iterable[Metric],
    url: str,
    timeout_s: float | None,
    resource: Resource,
    scope: InstrumentationScope,
    times: tuple[str, str],
) -> str:
    """Send ``metrics``, and return the outcome in words.

    ``times`` are the start and the end of the run (UTC, ISO 8601). Each value is that of the whole
    run, so that sending a run again gives the same values.
    """
    is_delta = os.environ.get(_TEMPORALITY, "").lower() == "delta"
    temporality = AggregationTemporality.DELTA if is_delta else AggregationTemporality.CUMULATIVE
    start_ns, end_ns = map(_parse_ns, times)
    written = [_build_metric(one, start_ns, end_ns, temporality) for one in metrics]
    if not written:
        return "there are no metrics"
    data = MetricsData(
        resource_metrics=[
            ResourceMetrics(
                resource=resource,
                scope_metrics=[ScopeMetrics(scope=scope, metrics=written, schema_url=SCHEMA_URL)],
                schema_url=resource.schema_url,
            )
        ]
    )
    session = CollectorSession("data points")
    exporter = OTLPMetricExporter(endpoint=url, timeout=timeout_s, session=session)
    try:
        result = exporter.export(data)
    finally:
        exporter.shutdown()
    if session.status in _TAKES_NONE:
        return f"the collector takes no metrics (HTTP {session.status})"
    if session.problem is not None or result is not MetricExportResult.SUCCESS:
        answer = "no answer" if session.status is None else f"HTTP {session.status}"
        return f"the metrics could not be sent: {session.problem or answer}"
    return f"{len(written)} metrics, too"


def _build_metric(
    one: Metric, start_ns: int, end_ns: int, temporality: AggregationTemporality
) -> SdkMetric:
    data: Histogram | Sum
    if one.bounds is None:
        points = one.points.items()
        numbers = [NumberDataPoint(dict(key), start_ns, end_ns, value) for key, value in points]
        data = Sum(numbers, temporality, is_monotonic=True)
    else:
        spreads = [
            HistogramDataPoint(
                attributes=dict(attributes),
                start_time_unix_nano=start_ns,
                time_unix_nano=end_ns,
                count=sum(spread.counts),
                sum=spread.total,
                bucket_counts=spread.counts,
                explicit_bounds=spread.bounds,
                min=spread.least,
                max=spread.most,
            )
            for attributes, spread in one.points.items()
        ]
        data = Histogram(spreads, temporality)
    return SdkMetric(one.name, one.description, one.unit, data)


def _parse_ns(time: str) -> int:
    # By way of milliseconds, as the log has them: a float is not exact to the nanosecond.
    return round(datetime.fromisoformat(time).timestamp() * 1000) * 1_000_000
