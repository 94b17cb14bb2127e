"""Small transcripts to judge: tools on offer, calls that were made, an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio

from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.types import (
    Caller,
    Case,
    CheckResult,
    Outcome,
    Stop,
    Tool,
    ToolCall,
    ToolList,
    Transcript,
    Usage,
)

OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {"orders": {"type": "array"}},
    "required": ["orders"],
}

TOOLS = ToolList(
    tools=(
        Tool(
            name="get_orders",
            description="Return the orders of one customer.",
            input_schema={
                "type": "object",
                "properties": {
                    "customer_id": {"type": "string"},
                    "limit": {"type": "integer"},
                    "status": {"type": "string"},
                    "filter": {"type": "object"},
                    "either": {"type": ["integer", "null"]},
                },
            },
            output_schema=OUTPUT_SCHEMA,
            read_only=True,
        ),
        Tool(
            name="search_orders",
            description="Search the orders of all customers by date or status.",
            input_schema={"type": "object", "properties": {"query": {"type": "string"}}},
        ),
        Tool(
            name="delete_customer",
            description="Delete a customer for good.",
            input_schema={"type": "object"},
        ),
        Tool(
            name="weather",
            description="Tell how warm it is in a city.",
            input_schema={"type": "object"},
        ),
    )
)


def call(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    outcome: Outcome = "ok",
    reply: int = 1,
    text: str = "",
    structured: Any = None,
    **more: Any,
) -> ToolCall:
    return ToolCall(
        tool=tool,
        arguments=dict(arguments or {}),
        outcome=outcome,
        reply=reply,
        text=text,
        structured=structured,
        **more,
    )


def scene(
    *calls: ToolCall,
    answer: str = "",
    prompt: str = "What did they order?",
    tools: ToolList = TOOLS,
    user: Mapping[str, Any] | None = None,
    stop: Stop = "answer",
    usage: Usage | None = None,
    **more: Any,
) -> Evidence:
    return Evidence(
        case=Case(name="case", prompt=prompt, checks=(), caller=Caller(user_context=user)),
        transcript=Transcript(
            tool_calls=calls, answer=answer, stop=stop, usage=usage or Usage(), **more
        ),
        tools=tools,
    )


def judge_all(kind: str, value: Any, evidence: Evidence) -> tuple[CheckResult, ...]:
    """Read ``value`` as a suite would and judge what comes of it."""
    checks = tuple(check for _, check in VOCABULARY.parse(kind, value))
    case = replace(evidence.case, checks=checks)
    whole = Evidence(case=case, transcript=evidence.transcript, tools=evidence.tools)
    return anyio.run(evaluate_checks, whole)


def judge(kind: str, value: Any, evidence: Evidence) -> CheckResult:
    """Judge a value that asks for exactly one check."""
    (result,) = judge_all(kind, value, evidence)
    return result


def passes(kind: str, value: Any, evidence: Evidence) -> None:
    """Make sure that it passes, and says nothing that a person would have to read."""
    result = judge(kind, value, evidence)
    assert result.verdict == "passed", result.explanation
    assert result.explanation == ""
    assert result.hint is None


def fails(kind: str, value: Any, evidence: Evidence, *sentences: str) -> CheckResult:
    """Check that it fails, with an explanation that begins with the first and has the others."""
    result = judge(kind, value, evidence)
    assert result.verdict == "failed"
    assert result.explanation.startswith(sentences[0]), result.explanation
    for sentence in sentences[1:]:
        assert sentence in f"{result.explanation}\n{result.hint}", (
            f"{result.explanation}\n{result.hint}"
        )
    assert result.hint
    return result
