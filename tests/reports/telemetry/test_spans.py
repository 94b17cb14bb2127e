"""One trial's line becomes a tree of spans: what is in it, when it was, and what stays out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from harness.reports.telemetry import conventions as names
from harness.reports.telemetry.spans import Span, Trace, build_trace
from harness.types import (
    AssistantMessage,
    CaseFacts,
    CheckResult,
    Location,
    Reply,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialError,
    TrialResult,
    Usage,
    UserMessage,
    Wire,
)
from tests.support import with_reply_times

STARTED = 1_785_000_000
"""2026-07-25T17:20:00Z."""
KEY = "sk-abcdefgh12345678901234567890"
MODEL = {"provider": "anthropic", "model_id": "claude-sonnet-4-5"}
TRANSCRIPT = Transcript(
    messages=(
        UserMessage(text="Where is my order?"),
        AssistantMessage(
            reply=Reply(
                text="I look.",
                tool_requests=(
                    ToolRequest(id="a", tool="get_order", arguments={"id": 7}),
                    ToolRequest(id="b", tool="get_user"),
                ),
                stop="tool_calls",
                usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.01),
                served_by="claude-sonnet-4-5-20250929",
            )
        ),
        ToolMessage(
            answers=(ToolAnswer(request_id="a", text="sent"),
                     ToolAnswer(request_id="b", text="no", is_error=True))
        ),
        AssistantMessage(reply=Reply(text=f"It was sent; {KEY}.",
                                     usage=Usage(input_tokens=30, output_tokens=None))),
    ),
    tool_calls=(
        ToolCall(
            tool="get_order", arguments={"id": 7}, outcome="ok", reply=1, request_id="a",
            text="sent", started_s=2.0, duration_s=1.0,
        ),
        ToolCall(
            tool="get_user", arguments={}, outcome="denied", reply=1, request_id="b", text="no",
            error_code=-32001, started_s=2.0, duration_s=0.5,
        ),
    ),
    setup_calls=(ToolCall(tool="seed", arguments={}, outcome="ok", reply=0, started_s=0.0,
                          duration_s=0.25),),
    teardown_calls=(ToolCall(tool="clean", arguments={}, outcome="ok", reply=0, started_s=0.0,
                             duration_s=0.25),),
    answer=f"It was sent; {KEY}.",
    usage=Usage(input_tokens=40, output_tokens=None, cost_usd=None),
    replies=2,
    started_at="2026-07-25T17:20:00.000Z",
    latency_s=4.5,
    served_by="claude-sonnet-4-5-20250929",
)  # fmt: skip
RUN = TrialResult(
    key="k" * 64,
    suite="shop",
    case=CaseFacts(
        name="order",
        user_context={"role": "support"},
        tags=("smoke",),
        at=Location(file="evals/shop.yml", line=5),
    ),
    model="claude-4-sonnet",
    trial=2,
    status="failed",
    usage=TRANSCRIPT.usage,
    checks=(
        CheckResult(
            kind="must_call",
            label="must_call get_order",
            verdict="passed",
            at=Location(file="evals/shop.yml", line=9),
        ),
        CheckResult(
            kind="answer_contains",
            label='answer_contains "Omar"',
            verdict="failed",
            explanation="Nothing is like it: It was",
        ),
        CheckResult(kind="faithful", label="faithful", verdict="passed", score=0.8),
        CheckResult(
            kind="expected_answer", label="expected_answer", verdict="not_judged", severity="warn"
        ),
    ),
    stop="answer",
)


def trace(
    run: TrialResult = RUN, transcript: Transcript = TRANSCRIPT, *, content: bool = False
) -> Trace:
    return build_trace("run-1", run, transcript, MODEL, content=content)


def seconds(span: Span, base_ns: int) -> tuple[float, float]:
    return (span.start_ns - base_ns) / 1e9, (span.end_ns - base_ns) / 1e9


def test_a_trial_is_a_tree_and_every_call_is_one_span_at_its_own_time() -> None:
    root, *children = trace().spans
    base = root.start_ns + 250_000_000
    assert {child.parent_id for child in children} == {root.span_id}
    assert root.parent_id is None
    assert [(child.name, *seconds(child, base)) for child in children] == [
        ("execute_tool seed", -0.25, 0.0),
        ("chat claude-sonnet-4-5", 0.0, 2.0),
        ("execute_tool get_user", 2.0, 2.5),
        ("execute_tool get_order", 2.0, 3.0),
        ("chat claude-sonnet-4-5", 3.0, 4.5),
        ("execute_tool clean", 4.5, 4.75),
    ]
    assert seconds(root, base) == (-0.25, 4.75)
    assert len({span.span_id for span in (root, *children)}) == 7


def test_a_reply_has_its_own_time_where_it_was_recorded() -> None:
    times = [(0.5, 1.75), (3.25, 4.0)]
    root, *children = trace(transcript=with_reply_times(TRANSCRIPT, times)).spans
    chats = [child for child in children if child.name.startswith("chat")]
    base = root.start_ns + 250_000_000
    assert [seconds(chat, base) for chat in chats] == times


def test_times_are_absolute() -> None:
    root = trace(transcript=replace(TRANSCRIPT, setup_calls=())).spans[0]
    assert root.start_ns == STARTED * 10**9


def test_the_same_trial_has_the_same_ids_whenever_it_is_sent_and_another_has_others() -> None:
    assert trace() == trace()
    assert trace().trace_id != trace(replace(RUN, key="l" * 64)).trace_id


def test_the_trial_bears_its_verdict_in_its_status_too() -> None:
    root = trace().spans[0]
    assert root.name == "invoke_agent shop::order"
    expected = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.request.model": "claude-sonnet-4-5",
        "gen_ai.response.model": "claude-sonnet-4-5-20250929",
        "gen_ai.usage.input_tokens": 40,
        "test.suite.name": "shop",
        "test.case.name": "order",
        "test.case.result.status": "fail",
        "harness.status": "failed",
        "harness.trial": 2,
        "harness.tags": ["smoke"],
        "harness.run.id": "run-1",
        "code.file.path": "evals/shop.yml",
    }
    assert {name: root.attributes.get(name) for name in expected} == expected
    assert (root.failed, root.passed) == ("failed: answer_contains", False)
    right = trace(replace(RUN, status="passed")).spans[0]
    assert (right.failed, right.passed) == (None, True)
    skipped = trace(replace(RUN, status="cancelled")).spans[0]
    assert (skipped.failed, skipped.passed) == (None, False)
    unknown = {"gen_ai.usage.output_tokens", "harness.cost_usd"}
    assert not unknown & set(root.attributes)  # what is unknown is left out, and is no 0


def test_a_trial_without_a_verdict_is_an_error_and_no_result_of_a_test() -> None:
    error = TrialError(kind="server", message="it went away with all our secrets")
    root = trace(replace(RUN, status="error", error=error)).spans[0]
    assert root.failed == "server error"
    assert root.attributes["error.type"] == "server"
    assert "test.case.result.status" not in root.attributes
    assert "harness.error.message" not in root.attributes


def test_every_check_is_an_evaluation_event_and_the_verdict_is_the_last() -> None:
    told = [
        (event.name, event.attributes["gen_ai.evaluation.name"],
         event.attributes.get("gen_ai.evaluation.score.value"),
         event.attributes["gen_ai.evaluation.score.label"])
        for event in trace().spans[0].events
    ]  # fmt: skip
    assert told == [
        ("gen_ai.evaluation.result", "must_call", 1.0, "pass"),
        ("gen_ai.evaluation.result", "answer_contains", 0.0, "fail"),
        ("gen_ai.evaluation.result", "faithful", 0.8, "pass"),
        ("gen_ai.evaluation.result", "expected_answer", None, "not_judged"),
        ("gen_ai.evaluation.result", "verdict", 0.0, "fail"),
    ]
    unjudged = trace(replace(RUN, status="error", checks=())).spans[0].events[-1].attributes
    assert unjudged["gen_ai.evaluation.score.label"] == "error"
    assert "gen_ai.evaluation.score.value" not in unjudged


def test_a_call_that_was_refused_says_so() -> None:
    call = next(span for span in trace().spans if span.name == "execute_tool get_user")
    assert call.failed == "denied"
    expected = {
        "error.type": "denied",
        "rpc.response.status_code": "-32001",
        "mcp.method.name": "tools/call",
    }
    assert {name: call.attributes[name] for name in expected} == expected


def test_how_a_call_crossed_the_session_is_told_as_far_as_it_is_known() -> None:
    names_of_wire = {
        "mcp.session.id": "s-1",
        "mcp.protocol.version": "2025-11-25",
        "network.transport": "tcp",
        "jsonrpc.request.id": "4",
    }
    wire = Wire(id="4", session="s-1", protocol="2025-11-25", transport="tcp")
    told, silent = TRANSCRIPT.tool_calls
    traced = replace(TRANSCRIPT, tool_calls=(replace(told, wire=wire), silent))
    order, user = (
        next(one for one in trace(transcript=traced).spans if one.name.endswith(name))
        for name in ("get_order", "get_user")
    )
    assert {name: order.attributes.get(name) for name in names_of_wire} == names_of_wire
    assert not names_of_wire.keys() & user.attributes.keys()


def test_the_question_and_the_final_answer_stand_on_the_trial_if_content_is_asked_for() -> None:
    root = trace(content=True).spans[0]
    assert root.attributes["input.value"] == "Where is my order?"
    assert str(root.attributes["output.value"]).startswith("It was sent; ")
    assert KEY not in str(root.attributes["output.value"])
    assert "input.value" not in trace().spans[0].attributes
    silent = replace(TRANSCRIPT, answer="")
    assert "output.value" not in trace(transcript=silent, content=True).spans[0].attributes


def test_calls_that_a_model_gives_one_id_are_still_two_spans() -> None:
    twice = tuple(replace(call, request_id="a") for call in TRANSCRIPT.tool_calls)
    spans = trace(transcript=replace(TRANSCRIPT, tool_calls=twice)).spans
    assert len({span.span_id for span in spans}) == len(spans)


def everything(one: Trace) -> str:
    return json.dumps(
        [[span.attributes, [event.attributes for event in span.events]] for span in one.spans],
        default=dict,
    )


def test_nothing_that_was_said_is_sent_unless_it_is_asked_for() -> None:
    said = ("Where is my order", "I look", "sent", "Omar", "Nothing is like it", "support", KEY)
    assert [text for text in said if text in everything(trace())] == []
    for span in trace().spans:
        assert not names.CONTENT & set(span.attributes)


def test_content_asked_for_is_sent_in_the_form_of_the_conventions_and_without_keys() -> None:
    spans = trace(content=True).spans
    first, second = (span for span in spans if span.name.startswith("chat"))
    asked: Any = json.loads(str(second.attributes["gen_ai.input.messages"]))
    assert [message["role"] for message in asked] == ["user", "assistant", "tool"]
    assert json.loads(str(first.attributes["gen_ai.output.messages"])) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "I look."},
                {"type": "tool_call", "id": "a", "name": "get_order", "arguments": {"id": 7}},
                {"type": "tool_call", "id": "b", "name": "get_user", "arguments": {}},
            ],
            "finish_reason": "tool_call",
        }
    ]
    call = next(span for span in spans if span.name == "execute_tool get_order")
    assert (
        call.attributes["gen_ai.tool.call.arguments"],
        call.attributes["gen_ai.tool.call.result"],
    ) == (
        '{"id": 7}',
        "sent",
    )
    assert spans[0].events[1].attributes["harness.check.label"] == 'answer_contains "Omar"'
    assert KEY not in everything(trace(content=True))
    assert "[redacted]" in everything(trace(content=True))
