"""Traces over the wire.

What a collector gets, and that one which is slow, broken or away changes nothing.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from harness.base.errors import UsageError
from harness.reports.telemetry.collector import CollectorSession
from harness.reports.telemetry.export import TelemetryRequest, export_log
from harness.runlog import RunLog
from tests.clock import BOUND_S, PATIENT_S
from tests.end_to_end.harness_process import Finished, Project, plain_server
from tests.reports.telemetry.collector import Collector, collector, values

CUMULATIVE = 2
"""AGGREGATION_TEMPORALITY_CUMULATIVE."""
ECHO = {"prompt": "Echo 'hello'.", "assertions": {"must_call": ["echo"]}}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    wrong = {"name": "wrong", "prompt": "Echo 'hello'.", "assertions": {"must_not_call": ["echo"]}}
    project.suite("first", [{"name": "right", **ECHO}, wrong], server=plain_server())
    return project


@pytest.fixture(scope="module")
def sent(project: Project) -> Iterator[tuple[Collector, Finished]]:
    """A run that was sent as it ended."""
    with collector() as found:
        env = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": found.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "x-project=shop",
        }
        yield found, project.run("evals", "first", "--otel", **env)


@pytest.fixture
def log(project: Project, sent: tuple[Collector, Finished]) -> RunLog:
    assert sent
    return project.log()


def test_a_run_is_sent_to_the_collector_of_the_environment(
    sent: tuple[Collector, Finished],
) -> None:
    found, finished = sent
    assert finished.code == 1
    assert f"2 traces (8 spans) sent to {found.url}/v1/traces" in finished.stderr
    assert found.paths == ["/v1/traces", "/v1/metrics"]
    assert found.headers[0]["content-type"] == "application/x-protobuf"
    assert found.headers[0]["x-project"] == "shop"
    assert found.resource["service.name"] == "harness"


def test_what_arrives_is_the_log(sent: tuple[Collector, Finished], log: RunLog) -> None:
    found, _ = sent
    assert len({span.trace_id for span in found.spans}) == len(log.results) == 2
    for run in log.results:
        (root,) = found.named(f"invoke_agent first::{run.case.name}")
        attributes = values(root.attributes)
        assert attributes["harness.status"] == run.status
        assert (
            attributes["test.case.result.status"]
            == {"passed": "pass", "failed": "fail"}[run.status]
        )
        # One for each check, and one for the verdict.
        assert [event.name for event in root.events] == ["gen_ai.evaluation.result"] * (
            len(run.checks) + 1
        )
        assert root.status.code == (1 if run.status == "passed" else 2)
        mine = [span for span in found.spans if span.trace_id == root.trace_id and span is not root]
        assert {span.parent_span_id for span in mine} == {root.span_id}
        transcript = log.read_transcript(run.key)
        assert transcript is not None
        # mcp has spans of its own for each request: none of them is here.
        calls = [span for span in mine if not span.name.startswith("chat ")]
        assert [span.name for span in calls] == [
            f"execute_tool {call.tool}" for call in transcript.tool_calls
        ]
        assert len(mine) - len(calls) == transcript.replies


TOKENS = ("input_tokens", "output_tokens", "cache_read.input_tokens", "cache_write.input_tokens")


def test_the_metrics_of_a_run_are_counted_from_its_log(
    sent: tuple[Collector, Finished], log: RunLog
) -> None:
    found, finished = sent
    assert "/v1/traces; 14 metrics, too" in finished.stderr
    assert set(found.metrics) == {
        "harness.trials",
        "harness.trial.duration",
        "harness.cost",
        *(f"gen_ai.client.inference.usage.{kind}" for kind in TOKENS),
        "gen_ai.client.inference.operation.input_tokens",
        "gen_ai.client.inference.operation.output_tokens",
        *(f"gen_ai.invoke_agent.{kind}" for kind in ("duration", "inference_calls", "tool_calls")),
        "gen_ai.execute_tool.duration",
        "mcp.client.operation.duration",
    }
    counts = {
        values(point.attributes)["harness.status"]: point.as_int
        for point in found.metrics["harness.trials"].sum.data_points
    }
    assert counts == {"passed": 1, "failed": 1}
    (calls,) = found.metrics["mcp.client.operation.duration"].histogram.data_points
    assert calls.count == sum(run.tool_calls for run in log.results)
    assert values(calls.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-11-25",
        "network.transport": "pipe",
    }
    assert calls.sum == pytest.approx(
        sum(call.duration_s for _, one in log if one is not None for call in one.tool_calls)
    )
    assert found.metrics["harness.trials"].sum.aggregation_temporality == CUMULATIVE


def test_a_collector_for_traces_alone_is_no_failure(log: RunLog) -> None:
    with collector() as found:
        found.answers["/v1/metrics"] = lambda: 405
        exported = export_log(log, TelemetryRequest(endpoint=found.url))
    assert exported.sent
    assert exported.sentence.endswith("; the collector takes no metrics (HTTP 405)")


def test_metrics_that_are_refused_are_told_beside_the_traces(log: RunLog) -> None:
    with collector() as found:
        found.answers["/v1/metrics"] = lambda: 403
        exported = export_log(log, TelemetryRequest(endpoint=found.url))
    assert exported.sent
    assert exported.sentence.endswith("; the metrics could not be sent: HTTP 403")


def test_no_metrics_are_sent_where_the_environment_says_so(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    with collector() as found:
        exported = export_log(log, TelemetryRequest(endpoint=found.url))
    assert exported.sent
    assert found.paths == ["/v1/traces"]
    assert exported.sentence.endswith("/v1/traces")


@pytest.mark.parametrize(
    ("given", "environment", "expected"),
    [
        ("http://here:4318", {}, "http://here:4318/v1/metrics"),
        ("http://here:4318/v1/traces", {}, "http://here:4318/v1/metrics"),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1/x/"}, "http://a:1/x/v1/metrics"),
        (None, {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://b:1/m"}, "http://b:1/m"),
        (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:1/t"}, None),
        (None, {}, "http://localhost:4318/v1/metrics"),
    ],
)
def test_metrics_go_beside_the_traces(
    given: str | None,
    environment: dict[str, str],
    expected: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert TelemetryRequest(endpoint=given).metrics_url == expected


def test_a_run_of_the_past_is_sent_with_the_same_ids(
    project: Project, sent: tuple[Collector, Finished]
) -> None:
    earlier, _ = sent
    with collector() as found:
        finished = project.run(
            "export", "otel", "--endpoint", found.url, "--content", OTEL_SERVICE_NAME="mine"
        )
    assert finished.code == 0, finished.stderr
    assert "2 traces (8 spans) sent to" in finished.stdout
    assert {span.span_id for span in found.spans} == {span.span_id for span in earlier.spans}
    assert found.resource["service.name"] == "mine"
    content = "gen_ai.input.messages"
    assert "Echo 'hello'." in values(found.named("chat lexical")[0].attributes)[content]
    assert all(content not in values(span.attributes) for span in earlier.spans)


@pytest.mark.slow
def test_a_collector_that_is_away_changes_nothing_but_a_sentence(project: Project) -> None:
    finished = project.run(
        "evals", "first", "-k", "right", "--otel=http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT="3"
    )
    assert finished.code == 0
    assert "1 planned: 1 passed" in finished.stdout
    (notice,) = [line for line in finished.stderr.splitlines() if "traces" in line]
    assert notice.startswith("The traces could not be sent to http://127.0.0.1:9/v1/traces: ")
    assert "Connection refused" in notice
    assert "Traceback" not in finished.stderr


@pytest.mark.slow
def test_an_export_to_nobody_is_given_up_after_three_attempts_and_says_why(
    log: RunLog, project: Project
) -> None:
    finished = project.run("export", "otel", str(log.path), "--endpoint", "http://127.0.0.1:9")
    assert finished.code == 3
    assert (
        "The traces could not be sent to http://127.0.0.1:9/v1/traces: "
        "nobody answers there: Connection refused." in finished.stderr
    )
    assert "Traceback" not in finished.stderr


def test_a_collector_that_was_reached_once_is_given_all_attempts() -> None:
    request = requests.Request("POST", "http://127.0.0.1:9").prepare()
    with CollectorSession() as session:
        for _ in range(2):
            with pytest.raises(requests.ConnectionError):
                session.send(request)
        session.status = 503
        with pytest.raises(requests.ConnectionError):
            session.send(request)
        session.status = None
        with pytest.raises(requests.RequestException, match="nobody answers") as given_up:
            session.send(request)
    assert not isinstance(given_up.value, requests.ConnectionError)


def test_a_collector_that_never_answers_is_given_up(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "OTEL_EXPORTER_OTLP_TIMEOUT", str(int(PATIENT_S))
    )  # the exporter itself would wait
    leave = threading.Event()

    def hang() -> int:
        leave.wait(BOUND_S)
        return 200

    with collector(hang) as found:
        exported = export_log(log, TelemetryRequest(endpoint=found.url), deadline_s=0.3)
        leave.set()
    assert not exported.sent  # as it would be, had anybody waited for the collector
    assert exported.sentence.startswith(f"The traces could not be sent to {found.url}/v1/traces: ")


def test_a_collector_that_refuses_is_quoted(log: RunLog, capfd: pytest.CaptureFixture[str]) -> None:
    with collector(lambda: 401) as found:
        exported = export_log(log, TelemetryRequest(endpoint=found.url))
    assert not exported.sent
    assert "401" in exported.sentence
    assert capfd.readouterr() == ("", "")  # the exporter's own log is not for users


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_collector_that_redirects_has_taken_nothing(log: RunLog, status: int) -> None:
    with (
        collector() as other,
        collector(lambda: status, {"Location": f"{other.url}/login?key=hidden"}) as found,
    ):
        exported = export_log(log, TelemetryRequest(endpoint=found.url))
    assert not exported.sent
    assert (
        f"HTTP {status}: a redirect to {other.url}/login, which is not followed"
        in exported.sentence
    )
    assert (other.paths, len(found.paths)) == ([], 1)


def test_a_collector_that_refuses_some_of_the_spans_is_quoted(log: RunLog) -> None:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = 2
    answer.partial_success.error_message = "too many attributes"
    said = {"Content-Type": "application/x-protobuf"}
    with collector(said=said, body=answer.SerializeToString()) as found:
        exported = export_log(log, TelemetryRequest(endpoint=found.url))
    assert not exported.sent
    assert "the collector refused 2 spans: too many attributes" in exported.sentence
    with collector(said=said, body=ExportTraceServiceResponse().SerializeToString()) as found:
        assert export_log(log, TelemetryRequest(endpoint=found.url)).sent


def test_a_web_page_is_no_collector(log: RunLog) -> None:
    with collector(
        said={"Content-Type": "text/html; charset=utf-8"}, body=b"<html>Welcome"
    ) as found:
        exported = export_log(log, TelemetryRequest(endpoint=found.url))
    assert not exported.sent
    assert "a web page answered, and no collector" in exported.sentence


def test_a_password_in_the_collectors_address_is_not_shown(log: RunLog) -> None:
    exported = export_log(
        log, TelemetryRequest(endpoint="http://ada:hunter2hunter2@127.0.0.1:9"), deadline_s=0.3
    )
    assert "hunter2" not in exported.sentence


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://here:4318", "http://here:4318/v1/traces"),
        ("http://here:4318/otlp/", "http://here:4318/otlp/v1/traces"),
        ("http://here:4318/v1/traces", "http://here:4318/v1/traces"),
    ],
)
def test_an_endpoint_is_taken_with_or_without_its_path(given: str, expected: str) -> None:
    assert TelemetryRequest(endpoint=given).url == expected


def test_an_endpoint_that_is_no_url_is_refused_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="A SUITE goes ahead of it"):
        TelemetryRequest(endpoint="data_governance")


def test_the_page_names_every_attribute_that_is_sent() -> None:
    from harness.reports.telemetry import conventions

    page = (Path(__file__).parents[3] / "docs" / "telemetry.md").read_text("utf-8")
    sent = {
        value
        for name, value in vars(conventions).items()
        if name.isupper() and isinstance(value, str) and "." in value
    }
    sent -= {conventions.SCHEMA_URL}
    listed = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", page))
    assert sent <= listed, sent - listed
