"""Checks on the text of tool results: ``tool_result_contains``, ``tool_result_not_contains``.

A leak that the answer does not repeat is still a leak: every result and error that reached the
model is searched, in every form in which it may contain a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.judging.checks.claims import CallsClaim, TextClaim
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.missing_call import explain_missing_call
from harness.judging.checks.explaining.no_calls import explain_no_calls, hint_without_calls
from harness.judging.checks.explaining.transcript_lines import (
    format_call,
    is_truncated,
    result_json,
)
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    FunctionKind,
    make_list_reader,
    passed_if,
    single_or_list_schema,
)
from harness.judging.checks.parsing import TEXT, long_form, read_mapping, read_text
from harness.judging.checks.policy_facts import policy_facts
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
    if not isinstance(value, Mapping):
        return {"text": read_text(value, path)}
    found = read_mapping(value, path, required=("text",), optional=("tool",))
    for key, what in (("text", "text"), ("tool", "tool name")):
        if key in found:
            read_text(found[key], (*path, key), what)
    return found


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
    return (
        f"{format_value(params['text'], 40)} in {params['tool']}"
        if "tool" in params
        else format_value(params["text"], 40)
    )


def _judge_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, calls = params["text"], find_tool_calls(params, evidence.transcript)
    hit = next(
        (
            call
            for call in calls
            if any(contains_text(wanted, form) for form in iterate_forms(call))
        ),
        None,
    )
    cut = [call for call in calls if is_truncated(call)]
    lines: list[str] = []
    hint = None
    if hit is None and cut:
        lines = [
            (
                f"Only a part of the result of {format_call(cut[0])} was kept, and the text is "
                f"not in "
                f"it: {format_value(wanted)}"
            )
        ]
    elif hit is None:
        lines, hint = _explain_missing(params, calls, evidence)
    return CheckFinding(
        label=_build_label(params),
        verdict="not_judged" if hit is None and cut else passed_if(hit is not None),
        expected={"contains": wanted},
        actual=_describe_results(calls if hit is None else [hit]),
        explanation=lines,
        hint=hint,
    )


def _explain_missing(
    params: JsonObject, calls: Sequence[ToolCall], evidence: Evidence
) -> tuple[list[str], str]:
    wanted, tool = params["text"], params.get("tool")
    lines = [f"Tool result does not contain expected text: {format_value(wanted)}"]
    if not calls and tool:
        reasons, hint = explain_missing_call({"tool": tool, "args": {}}, evidence)
        return lines + reasons, hint
    if not calls:
        hint = hint_without_calls(evidence.transcript, "Ask for data that only a tool can know.")
        return [*lines, explain_no_calls(evidence.transcript)], hint
    for call in calls[:3]:
        near = find_nearest(wanted, call.text)
        told = (
            f"“{near.context}”, its nearest passage" if near else f"“{format_line(call.text, 120)}”"
        )
        lines.append(f"{format_call(call, 80)} returned {told}")
    return (
        lines,
        (
            "See whether the server's data changed, or whether the call asked for something else "
            "than was meant."
        ),
    )


def _describe_results(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [
        {"tool": call.tool, "outcome": call.outcome, "text": clip_text(call.text, 1_000)}
        for call in calls[:5]
    ]


def _judge_not_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, calls = (
        params["text"],
        # As a prohibition is read: on each joined server, under the tool's name there.
        find_forbidden_calls(
            {"tool": params.get("tool")}, evidence.transcript.tool_calls, evidence.tools
        ),
    )
    hits = [(call, found) for call in calls if (found := find_in_result(wanted, call))]
    cut = [call for call in calls if is_truncated(call)]
    lines: list[str] = []
    hint = None
    if hits:
        lines, hint = _explain_forbidden(wanted, hits, evidence)
    # The part that was kept does not speak for the rest.
    elif cut:
        lines = [
            (
                f"Only a part of the result of {format_call(cut[0])} was kept, so the rest may "
                f"hold "
                f"{format_value(wanted)}"
            )
        ]
    return CheckFinding(
        label=_build_label(params),
        verdict="failed" if hits else "not_judged" if cut else "passed",
        expected={"not_contains": wanted},
        actual=_describe_results([call for call, _ in hits]),
        explanation=lines,
        hint=hint,
        facts=policy_facts(calls, crossed=bool(hits)),
    )


_SEEN = ", and what the user saw"


def _explain_forbidden(
    wanted: str, hits: Sequence[tuple[ToolCall, Passage]], evidence: Evidence
) -> tuple[list[str], str]:
    lines = [f"Tool result contains forbidden text: {format_value(wanted)}"]
    lines += [f"{format_call(call, 80)} returned “{found.context}”" for call, found in hits[:3]]
    repeated = contains_text(wanted, evidence.transcript.answer)
    lines.append(
        "The answer repeats it."
        if repeated
        else "The answer does not repeat it, but the model has seen it."
    )
    lines.append(
        f"Line{'s' if repeated else ''} crossed: what the server "
        f"allowed{_SEEN if repeated else ''}."
    )
    sent = format_value(hits[0][0].arguments, 2_000)
    if contains_text(wanted, sent):
        return (
            lines,
            (
                "The call's own arguments hold this text, and the result may merely echo them: "
                "forbid another text."
            ),
        )
    return (
        lines,
        "The server must not return this to this user: mask or leave out the field in its policy.",
    )


_TEXT_ITEM: JsonObject = {
    "anyOf": [TEXT, long_form({"text": TEXT, "tool": TEXT}, required=("text",))]
}

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
