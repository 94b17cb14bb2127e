"""Checks on the text of tool results: ``tool_result_contains``, ``tool_result_not_contains``.

A leak that the answer does not repeat is still a leak: every result and error that reached the
model is searched, in every form in which it may contain a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.judging.checks.claims import CallsClaim, TextClaim
from harness.judging.checks.explaining.missing_call import explain_no_result
from harness.judging.checks.explaining.transcript_lines import (
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
    policy_facts,
    single_or_list_schema,
)
from harness.judging.checks.parsing import (
    TEXT,
    check_tool,
    either_form,
    read_either_form,
    read_text,
)
from harness.judging.matching.calls import find_forbidden_calls, find_tool_calls
from harness.judging.matching.json_values import format_value, iterate_leaves
from harness.judging.matching.texts import (
    Passage,
    clip_text,
    contains_text,
    find_nearest,
    find_passage,
    format_line,
)
from harness.types import JsonObject, JsonPath, ToolCall


def _read_text(value: Any, path: JsonPath) -> JsonObject:
    return check_tool(read_either_form(value, path, "text", read_text, optional=("tool",)), path)


def iterate_forms(call: ToolCall) -> Iterator[str]:
    """Yield a result in every searchable form: as sent, and each JSON string unescaped."""
    yield call.text
    yield from iterate_leaves(call.structured)
    # In JSON, escapes hide a text from a search.
    if call.text.lstrip().startswith(("{", "[", '"')):
        yield from iterate_leaves(result_json(call))


def find_in_result(wanted: str, call: ToolCall) -> Passage | None:
    """Return where a text stands in a tool's result, or ``None``."""
    return next(
        (found for form in iterate_forms(call) if (found := find_passage(wanted, form))), None
    )


def _build_label(params: JsonObject) -> str:
    return format_value(params["text"], 40) + (f" in {params['tool']}" if "tool" in params else "")


def _judge_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, calls = params["text"], find_tool_calls(params, evidence.transcript)
    hits = [call for call in calls if any(contains_text(wanted, f) for f in iterate_forms(call))]
    found = CheckFinding(
        label=_build_label(params),
        expected={"contains": wanted},
        actual=_describe_results(hits[:1] or calls),
    )
    if hits:
        return found
    if cut := next(filter(is_truncated, calls), None):
        part = f"Only a part of the result of {format_call(cut)} was kept"
        line = f"{part}, and the text is not in it: {format_value(wanted)}"
        return replace(found, verdict="not_judged", why=([line], None))
    return replace(found, why=_explain_missing(params, calls, evidence))


def _explain_missing(
    params: JsonObject, calls: Sequence[ToolCall], evidence: Evidence
) -> Explanation:
    wanted = params["text"]
    lines = [f"Tool result does not contain expected text: {format_value(wanted)}"]
    if not calls:
        reasons, hint = explain_no_result(params, evidence)
        return [*lines, *reasons], hint
    for call in calls[:3]:
        near = find_nearest(wanted, call.text)
        begins = f"“{format_line(call.text, 120)}”"
        told = f"“{near.context}”, its nearest passage" if near else begins
        lines.append(f"{format_call(call, 80)} returned {told}")
    return lines, (
        "See whether the server's data changed, or whether the call asked for something else than "
        "was meant."
    )


def _describe_results(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [
        {"tool": call.tool, "outcome": call.outcome, "text": clip_text(call.text, 1_000)}
        for call in calls[:5]
    ]


def _judge_not_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, tool = params["text"], {"tool": params.get("tool")}
    # As a prohibition is read: on each joined server, under the tool's name there.
    calls = find_forbidden_calls(tool, evidence.transcript.tool_calls, evidence.tools)
    hits = [(call, found) for call in calls if (found := find_in_result(wanted, call))]
    cut = next(filter(is_truncated, calls), None)
    why = NOTHING_WRONG
    if hits:
        why = _explain_forbidden(wanted, hits, evidence)
    # The part that was kept does not speak for the rest.
    elif cut:
        part = f"Only a part of the result of {format_call(cut)} was kept"
        why = [f"{part}, so the rest may hold {format_value(wanted)}"], None
    return CheckFinding(
        label=_build_label(params),
        verdict="not_judged" if cut and not hits else None,
        expected={"not_contains": wanted},
        actual=_describe_results([call for call, _ in hits]),
        why=why,
        facts=policy_facts(calls, crossed=bool(hits)),
    )


def _explain_forbidden(
    wanted: str, hits: Sequence[tuple[ToolCall, Passage]], evidence: Evidence
) -> Explanation:
    lines = [f"Tool result contains forbidden text: {format_value(wanted)}"]
    lines += [f"{format_call(call, 80)} returned “{found.context}”" for call, found in hits[:3]]
    if contains_text(wanted, evidence.transcript.answer):
        lines.append("The answer repeats it.")
        lines.append("Lines crossed: what the server allowed, and what the user saw.")
    else:
        lines.append("The answer does not repeat it, but the model has seen it.")
        lines.append("Line crossed: what the server allowed.")
    if contains_text(wanted, format_value(hits[0][0].arguments, 2_000)):
        return lines, (
            "The call's own arguments hold this text, and the result may merely echo them: forbid "
            "another text."
        )
    return lines, (
        "The server must not return this to this user: mask or leave out the field in its policy."
    )


_TEXT_ITEM = either_form("text", TEXT, tool=TEXT)

TOOL_RESULT_CONTAINS = FunctionKind(
    name="tool_result_contains",
    schema=single_or_list_schema(_TEXT_ITEM),
    read=make_list_reader(_read_text),
    judge=_judge_contains,
    claims=lambda params: [
        TextClaim(of="result", tool=params.get("tool"), has=params["text"]),
        CallsClaim(tool=params.get("tool"), least=1),
    ],
    doc=CheckDoc(
        section="Results",
        asks=(
            "some tool (or the named one) returned this text, in its text, its structured"
            " result or its error"
        ),
        fails=("Tool result does not contain expected text: …",),
        example='tool_result_contains: ["CUST_00042", {text: shipped, tool: get_order}]',
    ),
)
TOOL_RESULT_NOT_CONTAINS = FunctionKind(
    name="tool_result_not_contains",
    schema=single_or_list_schema(_TEXT_ITEM),
    read=make_list_reader(_read_text),
    judge=_judge_not_contains,
    traits=lambda _params: ("withholds",),
    # What one result gave away, no other answer could take back.
    stands_anyway=lambda _failed, _transcript: True,
    claims=lambda params: [TextClaim(of="result", tool=params.get("tool"), lacks=params["text"])],
    doc=CheckDoc(
        section="Results",
        asks="no tool returned this text. A leak that the answer does not repeat is still a leak",
        fails=("Tool result contains forbidden text: …",),
        example='tool_result_not_contains: [{text: "555-", severity: warn}]',
    ),
)
