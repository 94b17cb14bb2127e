"""Checks on all calls together: ``must_call_any``, ``only_call`` and ``max_calls``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.base import InvalidValue, canonical_json
from harness.judging.checks.claims import CallsClaim, EitherClaim
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.missing_call import explain_missing_call
from harness.judging.checks.explaining.no_calls import explain_no_calls
from harness.judging.checks.explaining.presented_tools import format_tool_name
from harness.judging.checks.explaining.transcript_lines import (
    describe_outcome,
    explain_not_offered,
    format_call,
    format_expected_call,
    list_calls,
    report_calls,
)
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    FunctionKind,
    listed_calls,
    make_list_reader,
    make_single_reader,
    passed_if,
    single_or_list_schema,
)
from harness.judging.checks.parsing import (
    CALL,
    TEXT,
    call_list,
    long_form,
    read_mapping,
    read_text,
    read_whole_number,
)
from harness.judging.matching.calls import find_forbidden_calls, find_matching_calls, matches_call
from harness.judging.matching.texts import clip_text
from harness.types import JsonObject, JsonPath, ToolCall


def format_tools(params: JsonObject) -> str:
    """Return the tools of ``params["calls"]`` for a label."""
    return clip_text(", ".join(str(call["tool"]) for call in params["calls"]), 80)


def format_expected(params: JsonObject) -> list[JsonObject]:
    """Return ``params["calls"]`` as JSON for reports."""
    return [{"tool": call["tool"], "args": call["args"]} for call in params["calls"]]


def _call_list_schema(at_least: int) -> JsonObject:
    calls = {"type": "array", "items": CALL, "minItems": at_least}
    return {"anyOf": [calls, long_form({"calls": calls}, required=("calls",))]}


# ── must_call_any ────────────────────────────────────────────────────────────────────────────


def _judge_any(params: JsonObject, evidence: Evidence) -> CheckFinding:
    transcript = evidence.transcript
    made = [call for option in params["calls"] for call in find_matching_calls(option, transcript)]
    lines: list[str] = []
    hint = None
    if not made:
        calls = [format_expected_call(call) for call in params["calls"]]
        lines = [f"Expected call not found: any of {clip_text(', '.join(calls), 300)}"]
        lines += [
            reason
            for call in params["calls"]
            if (reason := explain_not_offered(call["tool"], evidence))
        ][:3]
        called = {call.tool for call in transcript.tool_calls}
        # Probably the option that was meant, with other arguments.
        near = next((call for call in params["calls"] if call["tool"] in called), None)
        told, hint = explain_missing_call(near or params["calls"][0], evidence)
        if near is not None:
            lines += told
        else:
            calls = list_calls(transcript.tool_calls, "Called instead, in order:")
            lines += calls or [explain_no_calls(transcript)]
    return CheckFinding(
        label=format_tools(params),
        verdict=passed_if(bool(made)),
        expected={"any_of": format_expected(params)},
        actual=report_calls(made or transcript.tool_calls),
        explanation=lines,
        hint=hint,
    )


MUST_CALL_ANY = FunctionKind(
    name="must_call_any",
    schema=_call_list_schema(1),
    read=make_single_reader(call_list),
    judge=_judge_any,
    order="one_of",
    traits=lambda _params: ("expects_calls",),
    wanted_calls=listed_calls,
    claims=lambda params: [
        EitherClaim(
            options=[CallsClaim(**call, least=1, enough=True) for call in format_expected(params)]
        )
    ],
    doc=CheckDoc(
        section="Calls",
        asks="at least one of these calls was made",
        fails=("Expected call not found: any of …",),
        example=(
            "must_call_any: [search_orders, {tool: run_query, args: {table: orders}}]"
            "  # long: {calls: […], severity: warn}"
        ),
    ),
)


# ── only_call ────────────────────────────────────────────────────────────────────────────────


def _judge_only(params: JsonObject, evidence: Evidence) -> CheckFinding:
    calls = evidence.transcript.tool_calls
    others = [
        made for made in calls if not any(matches_call(call, made) for call in params["calls"])
    ]
    lines: list[str] = []
    hint = None
    if others:
        allowed = ", ".join(format_expected_call(call) for call in params["calls"]) or "none"
        lines = [
            (
                f"Tool was called although it must not be: {format_call(others[0])} → "
                f"{describe_outcome(others[0])}"
            ),
            f"Only these calls are expected: {clip_text(allowed, 300)}",
            *list_calls(calls, "All calls, in order:"),
        ]
        hint = _hint_only(others[0], params, evidence)
    return CheckFinding(
        label=format_tools(params) or "(no tool)",
        verdict=passed_if(not others),
        expected={"only": format_expected(params)},
        actual=report_calls(others or calls),
        explanation=lines,
        hint=hint,
    )


def _hint_only(made: ToolCall, params: JsonObject, evidence: Evidence) -> str:
    name = format_tool_name(made.tool, evidence)
    if any(call["tool"] == made.tool for call in params["calls"]):
        return (
            f"{name} is expected, but not with these arguments: describe its parameters, or "
            "allow other arguments."
        )
    if not params["calls"]:
        return f"Say in the description of {name} when it is not needed, or reword the prompt."
    return (
        f"Say in the description of {name} when it is not needed, or add it to the list if it "
        "does no harm."
    )


ONLY_CALL = FunctionKind(
    name="only_call",
    schema=_call_list_schema(0),
    read=make_single_reader(lambda value: call_list(value, at_least=0)),
    judge=_judge_only,
    traits=lambda params: () if params["calls"] else ("no_success",),
    # The call was made, whatever its answer would have been.
    stands_anyway=lambda _failed, _transcript: True,
    claims=lambda params: [CallsClaim(most=0, other_than=tuple(params["calls"]))],
    doc=CheckDoc(
        section="Calls",
        asks="no calls other than these were made; `[]`: no tool was called at all",
        fails=("Tool was called although it must not be: …",),
        example="only_call: [find_customer, get_orders]  # long: {calls: […]}",
    ),
)


# ── max_calls ────────────────────────────────────────────────────────────────────────────────


def _read_max_calls(value: Any, path: JsonPath) -> JsonObject:
    if not isinstance(value, Mapping):
        return {"limit": read_whole_number(value, path, at_least=0)}
    found = read_mapping(value, path, required=("limit",), optional=("tool",))
    if "tool" in found:
        read_text(found["tool"], (*path, "tool"), "tool name")
    return found | {"limit": read_whole_number(found["limit"], (*path, "limit"), at_least=0)}


def _parse_max_calls(value: Any) -> Any:
    parsed = make_list_reader(_read_max_calls)(value)
    seen: set[str | None] = set()
    for path, params in parsed:
        tool = params.get("tool")
        if tool in seen:
            raise InvalidValue(f"there are two limits for {tool or 'all calls'}", path=path)
        seen.add(tool)
    return parsed


def _judge_max_calls(params: JsonObject, evidence: Evidence) -> CheckFinding:
    tool, limit = params.get("tool"), params["limit"]
    # As a prohibition is read: a limit covers the tool under its names on joined servers, too.
    calls = find_forbidden_calls({"tool": tool}, evidence.transcript.tool_calls, evidence.tools)
    which = f"calls of {tool}" if tool else "tool calls"
    lines: list[str] = []
    hint = None
    if len(calls) > limit:
        lines = [
            f"Too many {which}: {len(calls)}, at most {limit} expected",
            *list_calls(calls, "In order:"),
        ]
        hint = _hint_many(calls)
    return CheckFinding(
        label=f"{limit} {tool}" if tool else str(limit),
        verdict=passed_if(len(calls) <= limit),
        expected={"tool": tool, "at_most": limit} if tool else {"at_most": limit},
        actual=len(calls),
        explanation=lines,
        hint=hint,
    )


def _allows_none(params: JsonObject) -> bool:
    return params["limit"] == 0 and params.get("tool") is None


def _hint_many(calls: list[ToolCall]) -> str:
    failed = sum(call.is_error for call in calls)
    if failed:
        return (
            f"{failed} of them failed: let the tools' errors say how to do better, so that fewer "
            "attempts are needed."
        )
    # To the last character: a call with another argument may be a new question.
    repeated = len(calls) - len({(call.tool, canonical_json(call.arguments)) for call in calls})
    if repeated:
        return (
            f"{repeated} of {len(calls)} repeat an earlier call word for word: let the result say "
            "that it is complete."
        )
    return (
        "Let one call return everything that a question needs, or say in the descriptions how "
        "to filter and page."
    )


MAX_CALLS = FunctionKind(
    name="max_calls",
    schema=single_or_list_schema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                long_form(
                    {"limit": {"type": "integer", "minimum": 0}, "tool": TEXT}, required=("limit",)
                ),
            ]
        }
    ),
    read=_parse_max_calls,
    judge=_judge_max_calls,
    traits=lambda params: ("no_success",) if _allows_none(params) else (),
    claims=lambda params: [CallsClaim(tool=params.get("tool"), most=params["limit"], enough=True)],
    doc=CheckDoc(
        section="Calls",
        asks="at most so many calls, of all tools or of one",
        fails=("Too many tool calls: 7, at most 5 expected",),
        example="max_calls: [10, {limit: 2, tool: search_orders}]  # long: {limit: 10}",
    ),
)
