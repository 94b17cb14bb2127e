from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from harness.judging.checks import VOCABULARY, evaluate_checks, transcript_until
from harness.judging.checks.kind import Evidence
from harness.types import (
    AssistantMessage,
    Case,
    Check,
    CheckResult,
    Message,
    Reply,
    StateReading,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolMessage,
    ToolRequest,
    Transcript,
    Turn,
    Usage,
    UserMessage,
)
from tests.judging.checks.judges import grade, judge_of, materials

USAGE = Usage(input_tokens=10, output_tokens=1)


def reply(text: str = "", tool: str | None = None, waited_s: float = 0.0) -> AssistantMessage:
    requests = () if tool is None else (ToolRequest(id="1", tool=tool),)
    return AssistantMessage(
        reply=Reply(text=text, tool_requests=requests, usage=USAGE, waited_s=waited_s)
    )


RESULT = ToolMessage(answers=(ToolAnswer(request_id="1", text="found"),))
MESSAGES: tuple[Message, ...] = (
    UserMessage(text="first"),
    reply(tool="search", waited_s=1.5),
    RESULT,
    UserMessage(text="hurry", injected=True),
    reply("Paris"),
    UserMessage(text="second", said_s=4.0),
    reply(tool="look"),
    RESULT,
    reply("Oslo"),
)
WHOLE = Transcript(
    messages=MESSAGES,
    tool_calls=(
        ToolCall(tool="search", arguments={}, outcome="ok", reply=1),
        ToolCall(tool="look", arguments={}, outcome="ok", reply=3),
    ),
    answer="Oslo",
    replies=4,
    usage=USAGE + USAGE + USAGE + USAGE,
    latency_s=9.0,
    waited_s=1.5,
)


def check(kind: str, text: str) -> Check:
    key = "text" if kind.startswith("answer") else "tool"
    return Check(kind=kind, params={key: text} if key == "text" else {"tool": text, "args": {}})


def judged(
    transcript: Transcript, *turns: Turn, whole: tuple[Check, ...] = ()
) -> tuple[CheckResult, ...]:
    case = Case(name="c", prompt=turns[0].prompt, checks=whole, turns=turns)
    return anyio.run(
        evaluate_checks, Evidence(case=case, transcript=transcript, tools=ToolList(tools=()))
    )


def test_a_transcript_is_cut_where_the_user_speaks_next() -> None:
    first = transcript_until(
        replace(WHOLE, states=(StateReading(source={"resource": "db://x"}, value=2),)), 1
    )
    assert first is not None
    assert first.states == ()  # what was read in the end is no state of this turn
    assert first.messages == MESSAGES[:5]
    assert [call.tool for call in first.tool_calls] == ["search"]
    assert (first.answer, first.stop, first.replies, first.latency_s, first.waited_s) == (
        "Paris",
        "answer",
        2,
        4.0,
        1.5,
    )
    assert first.usage.input_tokens == 20


def test_the_last_turn_ends_with_the_conversation() -> None:
    assert transcript_until(WHOLE, 2) is WHOLE


def test_a_turn_that_never_came_has_no_transcript() -> None:
    assert transcript_until(WHOLE, 3) is None
    assert transcript_until(Transcript(), 1) is None


def test_checks_of_a_turn_see_nothing_of_what_comes_later() -> None:
    results = judged(
        WHOLE,
        Turn(
            prompt="first",
            checks=(check("answer_contains", "Paris"), check("must_not_call", "look")),
        ),
        Turn(
            prompt="second", checks=(check("answer_contains", "Oslo"), check("must_call", "search"))
        ),
        whole=(check("must_call", "look"),),
    )
    assert [(result.turn, result.verdict) for result in results] == [
        (1, "passed"),
        (1, "passed"),
        (2, "passed"),
        (2, "passed"),
        (None, "passed"),
    ]


def test_a_check_of_a_turn_says_which_turn_it_is_of() -> None:
    (result,) = judged(WHOLE, Turn(prompt="first", checks=(check("answer_contains", "Oslo"),)))
    assert result.verdict == "failed"
    assert result.label.startswith("turn 1: answer_contains")


@pytest.mark.parametrize("severity", ["fail", "warn"])
def test_a_check_of_a_turn_that_never_came_fails_and_says_where_it_ended(severity: str) -> None:
    late = Check(kind="must_call", params={"tool": "x", "args": {}, "severity": severity})
    cut = Transcript(messages=MESSAGES[:5], stop="call_limit")
    (result,) = judged(cut, Turn(prompt="first"), Turn(prompt="second", checks=(late,)))
    assert (result.verdict, result.severity, result.turn) == ("failed", severity, 2)
    assert (
        result.explanation == "This turn never came: the conversation ended in turn 1 (call_limit)."
    )


@pytest.mark.parametrize(
    ("fresh", "asked"),
    [
        ((), ["a1", "a1\n\nb2", "a1\n\nb2\n\nc3"]),
        ((0,), ["a1", "a1\n\nb2", "a1\n\nb2\n\nc3"]),
        ((1,), ["a1", "b2", "b2\n\nc3"]),
        ((2,), ["a1", "a1\n\nb2", "c3"]),
        ((1, 2), ["a1", "b2", "c3"]),
    ],
)
def test_a_judge_is_shown_what_was_said_since_the_conversation_began_anew(
    fresh: tuple[int, ...], asked: list[str]
) -> None:
    ((_, good),) = VOCABULARY.parse("expected_answer", "ok")
    ((_, fine),) = VOCABULARY.parse("expected_answer", "fine")
    prompts = ("a1", "b2", "c3")
    turns = tuple(
        Turn(prompt=prompt, fresh=place in fresh, checks=(good,))
        for place, prompt in enumerate(prompts)
    )
    messages = tuple(one for prompt in prompts for one in (UserMessage(text=prompt), reply("ok")))
    judge, model = judge_of(grade("correct"))
    case = Case(name="c", prompt="a1", checks=(fine,), turns=turns)
    said = Transcript(messages=messages, answer="ok")
    anyio.run(
        evaluate_checks, Evidence(case=case, transcript=said, tools=ToolList(tools=()), judge=judge)
    )
    assert [shown["query"] for shown in materials(model)] == [*asked, asked[-1]]
