"""Setup and teardown of a trial, over a session that answers in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest

from harness.judging.trial import judge_trial
from harness.runner import case_rules as scripted
from harness.runner.case_rules import ScriptedCalls
from harness.types import (
    Case,
    Location,
    Outcome,
    ScriptedCall,
    ToolCall,
    ToolRequest,
    Transcript,
    Trial,
)
from tests.support import MemorySession, a_case

Behave = Callable[[ToolRequest], Awaitable[tuple[Outcome, str]]]
CREATE = ScriptedCall(
    tool="create", arguments={"id": 1}, at=Location(file="shop.yml", line=9, column=9)
)
CASE = a_case(
    setup=(CREATE, ScriptedCall(tool="fill")),
    teardown=(ScriptedCall(tool="empty"), ScriptedCall(tool="drop")),
)


def failing(*tools: str, outcome: Outcome = "tool_error") -> Behave:
    async def behave(request: ToolRequest) -> tuple[Outcome, str]:
        return (outcome, f"no {request.tool}") if request.tool in tools else ("ok", "done")

    return behave


def run(session: MemorySession, case: Case = CASE) -> tuple[bool, Transcript]:
    async def scenario() -> tuple[bool, Transcript]:
        calls = ScriptedCalls(case, session)
        try:
            ready = await calls.set_up()
        finally:
            await calls.tear_down()
        return ready, calls.complete_transcript(Transcript(answer="x"))

    return anyio.run(scenario)


def test_setup_and_teardown_are_made_in_order_and_recorded_apart_from_the_models_calls() -> None:
    session = MemorySession()
    ready, transcript = run(session)
    assert ready
    assert [request.tool for request in session.sent] == ["create", "fill", "empty", "drop"]
    assert [(call.tool, call.reply, call.outcome) for call in transcript.setup_calls] == [
        ("create", 0, "ok"),
        ("fill", 0, "ok"),
    ]
    assert [call.tool for call in transcript.teardown_calls] == ["empty", "drop"]
    assert (transcript.tool_calls, transcript.answer, transcript.error) == ((), "x", None)


def test_a_setup_that_fails_is_an_error_of_the_server_and_what_follows_it_is_not_made() -> None:
    session = MemorySession(failing("create"))
    ready, transcript = run(session)
    assert not ready
    assert [request.tool for request in session.sent] == ["create", "empty", "drop"]
    assert transcript.stop == "error"
    assert transcript.error is not None
    assert transcript.error.kind == "server"
    assert (
        transcript.error.message
        == 'setup failed: create({"id":1}) → tool_error: no create (shop.yml:9:9)'
    )
    assert transcript.error.detail == "last words"


def test_a_setup_that_our_own_guard_rails_keep_back_is_no_fault_of_the_server() -> None:
    _, transcript = run(MemorySession(failing("create", outcome="blocked")))
    assert transcript.error is not None
    assert transcript.error.kind == "harness"


def test_a_teardown_that_fails_is_a_warning_and_the_rest_is_made_all_the_same() -> None:
    session = MemorySession(failing("empty"))
    _, transcript = run(session)
    assert [request.tool for request in session.sent][2:] == ["empty", "drop"]
    result = judge_trial(Trial(suite="s", case=CASE, model="m", number=1, key="k"), transcript, ())
    assert result.status == "passed"
    (warning,) = result.checks
    assert (warning.kind, warning.verdict, warning.severity) == ("teardown", "failed", "warn")
    assert warning.explanation == "Teardown failed: empty → tool_error: no empty"


def test_teardown_runs_although_the_trial_is_interrupted() -> None:
    async def answer(_request: ToolRequest) -> tuple[Outcome, str]:
        await anyio.lowlevel.checkpoint()
        return "ok", ""

    async def scenario() -> list[str]:
        session = MemorySession(answer)
        calls = ScriptedCalls(CASE, session)
        with anyio.CancelScope() as scope:
            try:
                await calls.set_up()
                scope.cancel()
                await anyio.sleep_forever()
            finally:
                await calls.tear_down()
        return [request.tool for request in session.sent]

    assert anyio.run(scenario) == ["create", "fill", "empty", "drop"]


def test_a_teardown_that_hangs_is_given_up_and_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(request: ToolRequest) -> tuple[Outcome, str]:
        if request.tool == "empty":
            await anyio.sleep_forever()
        return "ok", ""

    monkeypatch.setattr(scripted, "TEARDOWN_S", 0.05)
    _, transcript = run(MemorySession(hang))
    assert [(call.tool, call.outcome) for call in transcript.teardown_calls] == [
        ("empty", "timeout"),
        ("drop", "timeout"),
    ]


def test_times_of_scripted_calls_count_from_the_first_of_them() -> None:
    _, transcript = run(MemorySession())
    calls: tuple[ToolCall, ...] = (*transcript.setup_calls, *transcript.teardown_calls)
    assert all(0 <= call.started_s < 5 for call in calls)
