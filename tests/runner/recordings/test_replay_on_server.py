from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ServerError
from harness.runner.recordings.replay_on_server import (
    ReplayDifference,
    execute_recording,
    replay_check,
)
from harness.types import (
    AssistantMessage,
    Outcome,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
    Transcript,
    UserMessage,
)
from tests.support import MemorySession, asks

RECORDED = Transcript(messages=(AssistantMessage(reply=asks(("look", {}), ("write", {}))),))


async def answer(request: ToolRequest) -> tuple[Outcome, str]:
    return ("server_lost", "HTTP 503") if request.tool == "look" else ("ok", "done")


def test_calls_are_carried_out_again() -> None:
    now, differences = anyio.run(execute_recording, RECORDED, MemorySession())
    assert [call.text for call in now.tool_calls] == ["result of call_1", "result of call_2"]
    assert differences == ()


def test_a_call_that_was_not_answered_is_no_result_even_where_the_server_is_still_there() -> None:
    with pytest.raises(ServerError, match="HTTP 503") as caught:
        anyio.run(execute_recording, RECORDED, MemorySession(answer))
    assert caught.value.stderr_tail == "last words"


def same_id(number: int) -> AssistantMessage:
    request = ToolRequest(id="call_0", tool="look", arguments={"number": number})
    return AssistantMessage(reply=replace(asks(), tool_requests=(request,)))


def recorded_result(text: str, *, error: bool = False) -> ToolMessage:
    return ToolMessage(answers=(ToolAnswer(request_id="call_0", text=text, is_error=error),))


async def by_number(request: ToolRequest) -> tuple[Outcome, str]:
    return "ok", f"result {request.arguments['number']}"


def test_results_are_paired_with_calls_by_position_for_some_agents_repeat_an_id() -> None:
    messages = (
        UserMessage(text="Look."),
        same_id(1),
        recorded_result("result 1"),
        same_id(2),
        recorded_result("result 2"),
        same_id(3),
        recorded_result("something else"),
    )
    _, differences = anyio.run(
        execute_recording, Transcript(messages=messages), MemorySession(by_number)
    )
    assert [(call.reply, was.text, call.text) for call, was in differences] == [
        (3, "something else", "result 3")
    ]


def test_calls_without_a_recorded_result_are_not_compared() -> None:
    messages = (UserMessage(text="Look."), same_id(1), UserMessage(text="Stop."), same_id(2))
    now, differences = anyio.run(
        execute_recording, Transcript(messages=messages), MemorySession(by_number)
    )
    assert (len(now.tool_calls), differences) == (2, ())


def difference(recorded: str, now: str, *, error: bool = False, reply: int = 1) -> ReplayDifference:
    call = ToolCall(tool="look", arguments={}, outcome="ok", reply=reply, text=now)
    return call, ToolAnswer(request_id="1", text=recorded, is_error=error)


def test_two_long_texts_are_shown_where_they_part() -> None:
    head = "x" * 5_000
    told = replay_check([difference(f"{head}A{head}", f"{head}B{head}")]).explanation
    assert "xA" in told
    assert "xB" in told
    then, _, now = told.partition(", now ")
    assert then.partition("“")[2] != now.partition("“")[2]


def test_equal_texts_of_which_one_was_an_error_are_told_apart() -> None:
    told = replay_check([difference("no", "no", error=True)]).explanation
    assert told == "look, reply 1: recorded as an error “no”, now as a result “no”"


@given(st.text(max_size=400), st.text(max_size=400), st.booleans())
def test_a_warning_never_shows_two_identical_texts(then: str, now: str, error: bool) -> None:
    if then == now and not error:
        return
    told = replay_check([difference(then, now, error=error)]).explanation
    left, right = (
        told.removeprefix("look, reply 1: recorded ").split("”, now ", 1)
        if "”, now " in told
        else (told, "")
    )
    assert left + "”" != right


def test_a_difference_that_comes_up_often_is_one_line() -> None:
    found = [
        difference("a", "b"),
        difference("a", "b"),
        *(difference(str(n), "b", reply=2) for n in range(9)),
    ]
    lines = replay_check(found).explanation.splitlines()
    assert lines[0] == "look, reply 1: recorded “a”, now “b” (2 times)"
    assert (len(lines), lines[-1]) == (6, "and 5 more")
