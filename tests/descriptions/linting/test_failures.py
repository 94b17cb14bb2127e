"""A run shows which tools tell of failures without marking them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from harness.descriptions import LintFinding, lint_tools, read_failed_calls
from harness.runlog import RunLog
from harness.types import JsonObject, Outcome, ToolCall, ToolList, Transcript
from tests.descriptions.linting.test_lint import good
from tests.reports.sample_logs import a_log, a_run


def a_call(text: str, outcome: Outcome = "ok", tool: str = "get_order") -> ToolCall:
    return ToolCall(tool=tool, arguments={}, outcome=outcome, reply=1, text=text)


def find_unmarked(*calls: ToolCall) -> list[LintFinding]:
    found = lint_tools(ToolList(tools=(good(),)), calls)
    return [finding for finding in found if finding.rule == "unmarked-failure"]


def test_a_tool_whose_failures_are_not_marked_is_told_with_its_words() -> None:
    calls = [a_call("Error: no order 7"), a_call("Error: no order 8"), a_call("No.", "tool_error")]
    (finding,) = find_unmarked(*calls)
    assert (finding.tool, finding.severity) == ("get_order", "warning")
    said = "2 of 3 failing calls say 'Error: no order 7' (and 1 other text) without isError."
    assert finding.message == said
    assert "isError" in finding.instead


def test_marked_failures_and_tools_that_are_gone_are_no_finding() -> None:
    assert not find_unmarked()
    assert not find_unmarked(a_call("Error: no order 7", "tool_error"))
    assert not find_unmarked(a_call("Error: no order 7", tool="gone"))


def a_run_of(folder: Path, servers: tuple[str, ...], *calls: ToolCall) -> RunLog:
    said = Transcript(messages=(), tool_calls=calls, tools=("get_order",), answer="")
    log = a_log(folder, [(a_run("c"), said)])
    suites: JsonObject = {"shop": {**log.header.suites["shop"], "servers": list(servers)}}
    facts: JsonObject = {name: {"command": "x"} for name in servers}
    return replace(log, header=replace(log.header, suites=suites, servers=facts))


def test_the_failed_calls_of_a_run_are_those_of_this_server(tmp_path: Path) -> None:
    failed = a_call(json.dumps({"status": "error"})), a_call("No.", "denied")
    log = a_run_of(tmp_path, ("crm",), a_call("Order 7 is open."), *failed)
    assert [call.text for call in read_failed_calls(log, "crm")] == [one.text for one in failed]
    assert not list(read_failed_calls(log, "other"))
