"""Checks on what tools returned as data: ``tool_result`` and ``output_schema_valid``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.base import InvalidValue
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.missing_call import explain_missing_call
from harness.judging.checks.explaining.no_calls import explain_no_calls, hint_without_calls
from harness.judging.checks.explaining.transcript_lines import (
    describe_outcome,
    format_call,
    is_truncated,
    result_json,
)
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    FunctionKind,
    make_list_reader,
    make_single_reader,
    one_call,
    passed_if,
    single_or_list_schema,
)
from harness.judging.checks.parsing import (
    TEXT,
    TRUE_OR_TOOL,
    long_form,
    read_arguments,
    read_mapping,
    read_text,
    true_or_tool,
)
from harness.judging.matching.calls import find_tool_calls, matches_call
from harness.judging.matching.json_values import ABSENT, format_value, shorten_value, to_plain_json
from harness.judging.matching.matchers import (
    check_matcher,
    describe_pattern,
    explain_unlike,
    has_match_at,
    matches_pattern,
)
from harness.judging.matching.paths import check_path, select_values
from harness.judging.matching.texts import format_line
from harness.types import JsonObject, JsonPath, ToolCall

_PRESENT: JsonObject = {"$any": True}


def _read_result(value: Any, path: JsonPath) -> JsonObject:
    found = read_mapping(value, path, optional=("tool", "args", "path", "value"))
    if "path" not in found and "value" not in found:
        raise InvalidValue(
            "neither a path nor a value is asked for",
            path=path,
            meant="Write {path: orders[0].status, value: shipped}, or a path alone for something "
            "that must be there.",
        )
    if "args" in found and "tool" not in found:
        raise InvalidValue("args need a tool to belong to", path=(*path, "args"))
    if "tool" in found:
        read_text(found["tool"], (*path, "tool"), "tool name")
        found["args"] = read_arguments(found.get("args", {}), (*path, "args"))
    found.setdefault("path", "$")
    check_path(found["path"], (*path, "path"))
    found["value"] = to_plain_json(found.get("value", _PRESENT), (*path, "value"))
    check_matcher(found["value"], (*path, "value"))
    return found


def _judge_result(params: JsonObject, evidence: Evidence) -> CheckFinding:
    path, pattern = params["path"], params["value"]
    calls = [
        call
        for call in evidence.transcript.tool_calls
        if "tool" not in params or matches_call(params, call)
    ]
    # A pattern that matches nothing at all, such as `$absent`, cannot be shown by a part.
    negative = matches_pattern(pattern, ABSENT) or matches_pattern(pattern, "")
    telling = [
        call for call in calls if not (negative and is_truncated(call) and call.structured is None)
    ]
    hit = any(has_match_at(path, pattern, result_json(call)) for call in telling)
    # What was found is there; what was not may be in the rest.
    cut = not hit and any(is_truncated(call) for call in calls)
    lines: list[str] = []
    hint = None
    if cut:
        lines = ["Only a part of a result was kept, so its full content is unknown."]
    elif not hit:
        lines, hint = _explain_result(params, calls, evidence)
    tool = f"{params['tool']} " if "tool" in params else ""
    place = "" if path == "$" else f"{path} "
    return CheckFinding(
        label=f"{tool}{place}{describe_pattern(pattern, 40)}",
        verdict="not_judged" if cut else passed_if(hit),
        expected={key: params[key] for key in ("tool", "args", "path", "value") if key in params},
        actual=[
            {
                "tool": call.tool,
                "values": [shorten_value(v) for v in _select_values(path, call)[:5]],
            }
            for call in calls[:5]
        ],
        explanation=lines,
        hint=hint,
    )


def _select_values(path: str, call: ToolCall) -> list[Any]:
    return select_values(path, result_json(call))


def _explain_result(
    params: JsonObject, calls: Sequence[ToolCall], evidence: Evidence
) -> tuple[list[str], str]:
    path, pattern = params["path"], params["value"]
    place = "the result" if path == "$" else path
    lines = [f"Tool result is not as expected: {place} should be {describe_pattern(pattern)}"]
    if not calls and "tool" in params:
        reasons, hint = explain_missing_call(params, evidence)
        return lines + reasons, hint
    if not calls:
        hint = hint_without_calls(evidence.transcript, "Ask for data that only a tool can know.")
        return [*lines, explain_no_calls(evidence.transcript)], hint
    for call in calls[:3]:
        found = _select_values(path, call)
        told = (
            "; ".join(format_value(value, 80) for value in found[:3])
            if found
            else f"nothing; {_format_keys(result_json(call))}"
        )
        lines.append(f"{format_call(call, 80)} → {place} is {told}")
        lines += [f"  {why}" for value in found[:3] if (why := explain_unlike(pattern, value))]
    if not any(_select_values(path, call) for call in calls):
        return lines, "The path leads nowhere: correct it, or see whether the call failed."
    return (
        lines,
        (
            "See whether the server's data changed, or relax the value with a matcher such as "
            "{$gte: …}."
        ),
    )


def _format_keys(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"the result has the keys {format_line(', '.join(map(str, value)), 100)}"
    return f"the result is {format_value(value, 80)}"


TOOL_RESULT = FunctionKind(
    name="tool_result",
    schema=single_or_list_schema(
        {
            **long_form(
                {"tool": TEXT, "args": {"type": "object"}, "path": {"type": "string"}, "value": {}},
                (),
            ),
            "anyOf": [{"required": ["path"]}, {"required": ["value"]}],
        }
    ),
    read=make_list_reader(_read_result),
    judge=_judge_result,
    wanted_calls=one_call,
    claims=lambda params: [
        CallsClaim(tool=params.get("tool"), args=params.get("args", {}), least=1)
    ],
    doc=CheckDoc(
        section="Results",
        asks=(
            "somewhere in a result there is this value: `path` leads to it, `value` is a "
            "plain value or a matcher; a path alone asks that something is there"
        ),
        fails=("Tool result is not as expected: …",),
        example=(
            "tool_result:\n"
            '  - {tool: search_orders, args: {limit: 10}, path: "orders[*].status", '
            "value: open}\n"
            "  - {tool: search_orders, path: orders, value: {$every: {$contains: {year: "
            "2025}}}}"
        ),
    ),
)


# ── output_schema_valid ──────────────────────────────────────────────────────────────────────


def _judge_schema(params: JsonObject, evidence: Evidence) -> CheckFinding:
    calls = [call for call in find_tool_calls(params, evidence.transcript) if call.outcome == "ok"]
    broken = [call for call in calls if call.output_errors]
    tool = evidence.tools.get(params["tool"]) if "tool" in params else None
    lines: list[str] = []
    hint = None
    cut = [call for call in calls if call.cut is not None]
    unknown = next((call for call in calls if call.result_not_validated), None)
    # First: one broken result decides, however little is known of the others.
    if broken:
        lines = [f"Tool result breaks the tool's output schema: {format_call(broken[0])}"]
        lines += [f"  {format_line(error)}" for error in broken[0].output_errors[:5]]
        hint = (
            "Correct the server's result or the outputSchema that it declares: clients may "
            "reject such a result."
        )
    # Only a named tool must have a result, and a schema.
    elif "tool" in params and not calls:
        lines, hint = _no_result(params, evidence)
    elif tool is not None and tool.output_schema is None:
        lines = [
            f"Tool declares no output schema: {tool.name}",
            "There is nothing that its results could be held to.",
        ]
        hint = "Declare an outputSchema, or drop the check."
    elif cut:
        lines = [f"Only a part of the result of {format_call(cut[0])} was read, {cut[0].cut}"]
    return CheckFinding(
        label=params.get("tool", ""),
        # A result that was not validated may be the one that is broken.
        verdict="not_judged"
        if (cut and not broken) or (unknown and not lines)
        else passed_if(not lines),
        expected="results that fit the outputSchema of their tool",
        actual=[
            {"tool": call.tool, "errors": [format_line(error) for error in call.output_errors[:5]]}
            for call in broken
        ],
        explanation=lines or _explain_unvalidated(unknown),
        hint=hint,
    )


def _explain_unvalidated(call: ToolCall | None) -> list[str]:
    if call is None:
        return []
    return [
        f"Tool result was not validated: {format_call(call)}",
        f"  {format_line(str(call.result_not_validated))}",
    ]


def _no_result(params: JsonObject, evidence: Evidence) -> tuple[list[str], str]:
    failed = find_tool_calls(params, evidence.transcript)
    if not failed:
        return explain_missing_call({"tool": params["tool"], "args": {}}, evidence)
    lines = [f"Tool call failed: {format_call(failed[-1])} → {describe_outcome(failed[-1])}"]
    return lines, "There is no result to hold to the schema: see why the call failed."


OUTPUT_SCHEMA_VALID = FunctionKind(
    name="output_schema_valid",
    schema=TRUE_OR_TOOL,
    read=make_single_reader(true_or_tool),
    judge=_judge_schema,
    claims=lambda params: [
        CallsClaim(tool=tool, least=1, outcome="ok") for tool in [params.get("tool")] if tool
    ],
    doc=CheckDoc(
        section="Results",
        asks=(
            "every result fits the `outputSchema` of its tool; a named tool must have "
            "one, and a result. Where a result [could not be "
            "validated](servers.md#schemas-of-tools), it does not judge"
        ),
        fails=("Tool result breaks the tool's output schema: …",),
        example="output_schema_valid: true",
    ),
)
