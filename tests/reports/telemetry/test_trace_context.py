"""Trace context of calls: what the server is told, on the wire, and what it finds of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project
from tests.end_to_end.servers import worded_server
from tests.reports.telemetry.collector import Collector, collector, values

TOOL = {
    "name": "echo",
    "description": "Echoes.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
CASE = {
    "name": "right",
    "prompt": "Echo 'hello'.",
    "setup": [{"tool": "echo", "args": {"text": "before"}}],
    "assertions": {"must_call": ["echo"]},
}
SERVERS = Path(worded_server.__file__).parent
Frames = list[dict[str, Any]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    (project.folder / "tools.json").write_text(json.dumps([TOOL]))
    args = [worded_server.__file__, "tools.json", "frames.jsonl"]
    project.suite("first", [CASE], server={"command": sys.executable, "args": args})
    return project


def run(project: Project, *arguments: str) -> Frames:
    """Run the suite, and return every message that the server got."""
    frames = project.folder / "frames.jsonl"
    frames.unlink(missing_ok=True)
    finished = project.run("evals", "first", *arguments)
    assert finished.code == 0, finished.stderr
    return [json.loads(line) for line in frames.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def traced(project: Project) -> Iterator[tuple[Collector, Frames]]:
    with collector() as found:
        frames = run(project, f"--otel={found.url}")
        yield found, frames


def contexts(frames: Frames) -> dict[str, str]:
    """Return id of a request → the context that it carried."""
    found = {}
    for frame in frames:
        meta = frame.get("params", {}).get("_meta", {})
        if "traceparent" in meta:
            found[str(frame["id"])] = meta["traceparent"]
    return found


def test_each_call_tells_the_server_the_span_that_is_exported_for_it(
    traced: tuple[Collector, Frames],
) -> None:
    found, frames = traced
    calls = [str(frame["id"]) for frame in frames if frame["method"] == "tools/call"]
    told = contexts(frames)
    assert list(told) == calls
    assert len(calls) == 2  # that of the setup, and that of the model
    for span in found.spans:
        request = str(values(span.attributes).get("jsonrpc.request.id"))
        if span.name == "execute_tool echo":
            assert told.pop(request) == f"00-{span.trace_id.hex()}-{span.span_id.hex()}-01"
    assert told == {}


def test_the_span_says_how_the_call_was_sent_and_nothing_of_what_is_unknown(
    traced: tuple[Collector, Frames],
) -> None:
    found, _ = traced
    for span in found.named("execute_tool echo"):
        attributes = values(span.attributes)
        assert attributes["network.transport"] == "pipe"
        assert attributes["mcp.protocol.version"] == worded_server.INFO["protocolVersion"]
        assert "mcp.session.id" not in attributes  # there is none over pipes


def test_without_tracing_no_call_carries_context_and_all_else_is_the_same(
    project: Project, traced: tuple[Collector, Frames]
) -> None:
    _, with_context = traced
    plain = run(project)
    assert "traceparent" not in json.dumps(plain)
    assert "traceparent" not in project.log().path.read_text("utf-8")
    assert [without_context(frame) for frame in with_context] == plain


def without_context(frame: dict[str, Any]) -> dict[str, Any]:
    meta = {
        name: value
        for name, value in frame.get("params", {}).get("_meta", {}).items()
        if name != "traceparent"
    }
    if "_meta" not in frame.get("params", {}):
        return frame
    params = {name: value for name, value in frame["params"].items() if name != "_meta"}
    return {**frame, "params": {**params, "_meta": meta} if meta else params}


def test_the_context_is_well_formed(traced: tuple[Collector, Frames]) -> None:
    _, frames = traced
    form = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01")
    assert all(form.fullmatch(context) for context in contexts(frames).values())


@pytest.mark.slow
def test_the_spans_of_an_instrumented_server_join_the_trace_of_the_trial(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with collector() as found:
        server = {
            "command": sys.executable,
            "args": [str(SERVERS / "instrumented_server.py")],
            "env": {"COLLECTOR": found.url},
        }
        project.suite("first", [CASE], server=server)
        finished = project.run("evals", "first", f"--otel={found.url}")
    assert finished.code == 0, finished.stderr
    sent = {span.span_id: span for span in found.spans}
    looked = found.named("look it up")
    assert len(looked) == 2  # in the call of the setup, and in that of the model
    for span in looked:
        served = sent[span.parent_span_id]
        assert served.name.startswith("tools/call")
        called = sent[served.parent_span_id]
        assert called.name == "execute_tool echo"
        assert sent[called.parent_span_id].name == "invoke_agent first::right"
        assert len({one.trace_id for one in (span, served, called)}) == 1
