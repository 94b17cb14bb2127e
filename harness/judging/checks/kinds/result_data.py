"""Checks on what tools returned as data: ``tool_result`` and ``output_schema_valid``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import InvalidValue
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.explaining.missing_call import explain_no_result
from harness.judging.checks.explaining.transcript_lines import (
    describe_call,
    format_call,
    is_truncated,
    result_json,
)
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    make_list_reader,
    make_single_reader,
    one_call,
    single_or_list_schema,
)
from harness.judging.checks.parsing import (
    TEXT,
    TRUE_OR_TOOL,
    check_tool,
    long_form,
    read_mapping,
    true_or_tool,
)
from harness.judging.matching.calls import find_tool_calls, matches_call
from harness.judging.matching.json_values import (
    ABSENT,
    check_path,
    format_value,
    select_values,
    shorten_value,
)
from harness.judging.matching.matchers import (
    check_matcher,
    describe_pattern,
    explain_unlike,
    has_match_at,
    matches_pattern,
)
from harness.judging.matching.texts import format_line
from harness.types import JsonObject, JsonPath, ToolCall, Verdict


def _read_result(value: Any, path: JsonPath) -> JsonObject:
    found = read_mapping(value, path, optional=("tool", "args", "path", "value"))
    if "path" not in found and "value" not in found:
        raise InvalidValue(
            "neither a path nor a value is asked for",
            path=path,
            meant="Write {path: orders[0].status, value: shipped}, or a path alone for something "
            "that must be there.",
        )
    if "tool" in check_tool(found, path):
        found.setdefault("args", {})
    found.setdefault("path", "$")
    check_path(found["path"], (*path, "path"))
    check_matcher(found.setdefault("value", {"$any": True}), (*path, "value"))
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
    tool = f"{params['tool']} " if "tool" in params else ""
    place = "" if path == "$" else f"{path} "
    found = CheckFinding(
        label=f"{tool}{place}{describe_pattern(pattern, 40)}",
        expected={key: params[key] for key in ("tool", "args", "path", "value") if key in params},
        actual=[
            {"tool": call.tool, "values": [*map(shorten_value, _select_values(path, call)[:5])]}
            for call in calls[:5]
        ],
    )
    if any(has_match_at(path, pattern, result_json(call)) for call in telling):
        return found
    # What was found is there; what was not may be in the rest.
    if any(map(is_truncated, calls)):
        line = "Only a part of a result was kept, so its full content is unknown."
        return replace(found, verdict="not_judged", why=([line], None))
    return replace(found, why=_explain_result(params, calls, evidence))


def _select_values(path: str, call: ToolCall) -> list[Any]:
    return select_values(path, result_json(call))


def _explain_result(
    params: JsonObject, calls: Sequence[ToolCall], evidence: Evidence
) -> Explanation:
    path, pattern = params["path"], params["value"]
    place = "the result" if path == "$" else path
    lines = [f"Tool result is not as expected: {place} should be {describe_pattern(pattern)}"]
    if not calls:
        reasons, hint = explain_no_result(params, evidence)
        return [*lines, *reasons], hint
    for call in calls[:3]:
        found = _select_values(path, call)
        told = "; ".join(format_value(value, 80) for value in found[:3])
        told = told or f"nothing; {_format_keys(result_json(call))}"
        lines.append(f"{format_call(call, 80)} → {place} is {told}")
        lines += [f"  {why}" for value in found[:3] if (why := explain_unlike(pattern, value))]
    if not any(_select_values(path, call) for call in calls):
        return lines, "The path leads nowhere: correct it, or see whether the call failed."
    return lines, (
        "See whether the server's data changed, or relax the value with a matcher such as "
        "{$gte: …}."
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
    cut = next((call for call in calls if call.cut is not None), None)
    unknown = next((call for call in calls if call.result_not_validated), None)
    verdict: Verdict | None = None
    why = NOTHING_WRONG
    # First: one broken result decides, however little is known of the others.
    if broken:
        why = _explain_broken(broken[0])
    # Only a named tool must have a result, and a schema.
    elif "tool" in params and not calls:
        why = _explain_failures(params, evidence)
    elif tool is not None and tool.output_schema is None:
        verdict = "not_judged" if cut else None
        first = f"Tool declares no output schema: {tool.name}"
        lines = [first, "There is nothing that its results could be held to."]
        why = lines, "Declare an outputSchema, or drop the check."
    elif cut:
        verdict = "not_judged"
        why = [f"Only a part of the result of {format_call(cut)} was read, {cut.cut}"], None
    elif unknown:
        # It may be the one that is broken.
        verdict, first = "not_judged", f"Tool result was not validated: {format_call(unknown)}"
        why = [first, f"  {format_line(str(unknown.result_not_validated))}"], None
    return CheckFinding(
        label=params.get("tool", ""),
        verdict=verdict,
        expected="results that fit the outputSchema of their tool",
        actual=[
            {"tool": call.tool, "errors": [format_line(error) for error in call.output_errors[:5]]}
            for call in broken
        ],
        why=why,
    )


def _explain_broken(call: ToolCall) -> Explanation:
    lines = [f"Tool result breaks the tool's output schema: {format_call(call)}"]
    return lines + [f"  {format_line(error)}" for error in call.output_errors[:5]], (
        "Correct the server's result or the outputSchema that it declares: clients may reject such "
        "a result."
    )


def _explain_failures(params: JsonObject, evidence: Evidence) -> Explanation:
    failed = find_tool_calls(params, evidence.transcript)
    if not failed:
        return explain_no_result(params, evidence)
    lines = [f"Tool call failed: {describe_call(failed[-1])}"]
    return lines, "There is no result to hold to the schema: see why the call failed."


OUTPUT_SCHEMA_VALID = FunctionKind(
    name="output_schema_valid",
    needs_session=True,
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
