"""Metrics of a run, in the exporter's own form, sent over OTLP/HTTP.

Importing this module loads the exporter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
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

from harness.reports.telemetry.conventions import SCHEMA_URL
from harness.reports.telemetry.metrics import Metric
from harness.reports.telemetry.session import CollectorSession

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
        numbers = [
            NumberDataPoint(dict(attributes), start_ns, end_ns, value)
            for attributes, value in one.points.items()
        ]
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
