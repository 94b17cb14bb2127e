"""The model must answer: one that says nothing passes no case, whatever else is checked."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.trial import judge_trial
from harness.judging.trial_checks import answer_checks
from harness.types import (
    AssistantMessage,
    Case,
    LeaderboardRules,
    Message,
    Reply,
    Stop,
    ToolMessage,
    ToolRequest,
    Transcript,
    Trial,
    Turn,
    UserMessage,
)
from tests.support import a_case

SILENT = AssistantMessage(reply=Reply())
ANSWER = AssistantMessage(reply=Reply(text="42"))
CALL = AssistantMessage(
    reply=Reply(tool_requests=(ToolRequest(id="a", tool="look"),), stop="tool_calls")
)
RESULT = ToolMessage(answers=())


def told(*messages: Message, stop: Stop = "answer") -> Transcript:
    return Transcript(messages=messages, stop=stop)


def asked(text: str = "question", **changes: Any) -> UserMessage:
    return UserMessage(text=text, **changes)


@pytest.mark.parametrize(
    "messages",
    [
        (asked(), SILENT),
        (asked(), AssistantMessage(reply=Reply(text=" \n"))),
        (asked(), CALL, RESULT, SILENT),
        (asked(), ANSWER, asked("and?", injected=True), SILENT),
    ],
)
def test_a_case_with_an_empty_answer_fails_and_says_so(messages: tuple[Message, ...]) -> None:
    trial = Trial(suite="s", case=a_case(), model="m", number=1, key="k")
    run = judge_trial(trial, told(*messages), ())
    assert run.status == "failed"
    assert [check.label for check in run.checks] == ["an answer"]
    assert run.checks[0].explanation.startswith("No answer: the model's reply was empty")


@pytest.mark.parametrize(
    "last",
    [
        ANSWER,
        CALL,
        AssistantMessage(reply=Reply(stop="refusal")),
        AssistantMessage(reply=Reply(stop="max_tokens")),
    ],
)
def test_a_reply_that_says_calls_or_refuses_something_is_not_empty(last: AssistantMessage) -> None:
    assert answer_checks(a_case(), told(asked(), last)) == ()


def test_every_turn_that_got_no_answer_is_named() -> None:
    case = a_case(turns=(Turn(prompt="one"), Turn(prompt="two"), Turn(prompt="three")))
    found = answer_checks(
        case, told(asked(), SILENT, asked(), ANSWER, asked(), CALL, RESULT, SILENT)
    )
    assert [check.turn for check in found] == [1, 3]


def test_a_turn_that_only_tells_something_needs_no_answer() -> None:
    case = a_case(turns=(Turn(prompt="know this", ingest=True), Turn(prompt="and?")))
    assert answer_checks(case, told(asked(), SILENT, asked(), ANSWER)) == ()


@pytest.mark.parametrize(
    ("case", "stop"),
    [
        (a_case(leaderboard=LeaderboardRules(silence=True)), "answer"),
        (a_case(), "transfer"),
        (a_case(), "not_admitted"),
    ],
)
def test_where_nobody_waits_for_an_answer_none_is_missed(case: Case, stop: Stop) -> None:
    messages = () if stop == "not_admitted" else (asked(), SILENT)
    assert answer_checks(case, told(*messages, stop=stop)) == ()
