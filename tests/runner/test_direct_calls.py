"""The calls of a case without a model, over a session that answers in memory."""

from __future__ import annotations

import anyio
import pytest

from harness.runner.direct_calls import DirectCalls
from harness.types import Limits, Outcome, ScriptedCall, ToolRequest, Transcript, Turn
from tests.support import MemorySession, a_case

CASE = a_case(
    prompt="",
    turns=(
        Turn(
            prompt="",
            calls=(ScriptedCall(tool="look", arguments={"id": 1}), ScriptedCall(tool="write")),
        ),
    ),
    limits=Limits(timeout_s=0.05),
)


def run(session: MemorySession) -> Transcript:
    async def scenario() -> Transcript:
        calls = DirectCalls(CASE, session)
        await calls.run()
        return calls.build_transcript()

    return anyio.run(scenario)


def answer(outcome: Outcome, *, after_s: float = 0) -> MemorySession:
    async def behave(_: ToolRequest) -> tuple[Outcome, str]:
        await anyio.sleep(after_s)
        return outcome, "words"

    return MemorySession(behave)


@pytest.mark.parametrize("outcome", ["ok", "denied", "tool_error", "protocol_error"])
def test_every_call_is_made_whatever_the_one_before_returned(outcome: Outcome) -> None:
    transcript = run(answer(outcome))
    made = [(call.tool, call.arguments, call.outcome, call.reply) for call in transcript.tool_calls]
    assert made == [("look", {"id": 1}, outcome, 0), ("write", {}, outcome, 0)]
    assert (transcript.messages, transcript.replies, transcript.stop) == ((), 0, "answer")


def test_no_call_is_made_to_a_server_that_is_gone() -> None:
    transcript = run(answer("server_lost"))
    assert [call.tool for call in transcript.tool_calls] == ["look"]
    assert transcript.error is not None
    assert (transcript.error.kind, transcript.error.message) == ("server", "words")


def test_a_call_that_outlasts_the_trial_is_recorded_as_sent() -> None:
    transcript = run(answer("ok", after_s=5))
    assert [(call.tool, call.outcome) for call in transcript.tool_calls] == [("look", "timeout")]
    assert transcript.tool_calls[0].duration_s > 0
    assert transcript.stop == "time_limit"
