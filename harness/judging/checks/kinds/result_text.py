"""Checks on the text of tool results: ``tool_result_contains``, ``tool_result_not_contains``.

A leak that the answer does not repeat is still a leak: every result and error that reached the
model is searched, in every form in which it may contain a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.judging.checks import Evidence
from harness.judging.checks.contradictions import CallsClaim, TextClaim
from harness.judging.checks.explaining.missing_call import explain
from harness.judging.checks.explaining.no_calls import hint_without_calls, without_calls
from harness.judging.checks.explaining.transcript_lines import (
    as_made,
    forbidden,
    of_tool,
    result_json,
    truncated,
)
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Kind,
    one_or_list,
    passed_if,
    several,
)
from harness.judging.checks.parsing import TEXT, long_form, mapping, text
from harness.judging.checks.policy_facts import policy_facts
from harness.judging.matching.json_values import leaves, show
from harness.judging.matching.texts import Passage, clip, contains, find, line, nearest
from harness.types import JsonObject, JsonPath, ToolCall


def _read_text(value: Any, path: JsonPath) -> JsonObject:
    if not isinstance(value, Mapping):
        return {"text": text(value, path)}
    found = mapping(value, path, required=("text",), optional=("tool",))
    for key, what in (("text", "text"), ("tool", "tool name")):
        if key in found:
            text(found[key], (*path, key), what)
    return found


def forms(call: ToolCall) -> Iterator[str]:
    """Yield a result in every searchable form: as sent, and each JSON string unescaped."""
    yield call.text
    yield from leaves(call.structured)
    if call.text.lstrip().startswith(("{", "[", '"')):
        yield from leaves(result_json(call))


def where(wanted: str, call: ToolCall) -> Passage | None:
    """Return where a text stands in a tool's result, or ``None``."""
    return next((found for form in forms(call) if (found := find(wanted, form))), None)


def _label(params: JsonObject) -> str:
    return (
        f"{show(params['text'], 40)} in {params['tool']}"
        if "tool" in params
        else show(params["text"], 40)
    )


def _judge_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, calls = params["text"], of_tool(params, evidence.transcript)
    hit = next(
        (call for call in calls if any(contains(wanted, form) for form in forms(call))), None
    )
    cut = [call for call in calls if truncated(call)]
    lines: list[str] = []
    hint = None
    if hit is None and cut:
        lines = [
            (
                f"Only a part of the result of {as_made(cut[0])} was kept, and the text is not in "
                f"it: {show(wanted)}"
            )
        ]
    elif hit is None:
        lines, hint = _not_in_results(params, calls, evidence)
    return CheckFinding(
        label=_label(params),
        verdict="not_judged" if hit is None and cut else passed_if(hit is not None),
        expected={"contains": wanted},
        actual=_texts(calls if hit is None else [hit]),
        explanation=lines,
        hint=hint,
    )


def _not_in_results(
    params: JsonObject, calls: Sequence[ToolCall], evidence: Evidence
) -> tuple[list[str], str]:
    wanted, tool = params["text"], params.get("tool")
    lines = [f"Tool result does not contain expected text: {show(wanted)}"]
    if not calls and tool:
        reasons, hint = explain({"tool": tool, "args": {}}, evidence)
        return lines + reasons, hint
    if not calls:
        hint = hint_without_calls(evidence.transcript, "Ask for data that only a tool can know.")
        return [*lines, without_calls(evidence.transcript)], hint
    for call in calls[:3]:
        near = nearest(wanted, call.text)
        told = f"“{near.context}”, its nearest passage" if near else f"“{line(call.text, 120)}”"
        lines.append(f"{as_made(call, 80)} returned {told}")
    return (
        lines,
        (
            "See whether the server's data changed, or whether the call asked for something else "
            "than was meant."
        ),
    )


def _texts(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [
        {"tool": call.tool, "outcome": call.outcome, "text": clip(call.text, 1_000)}
        for call in calls[:5]
    ]


def _judge_not_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, calls = params["text"], forbidden({"tool": params.get("tool")}, evidence)
    hits = [(call, found) for call in calls if (found := where(wanted, call))]
    cut = [call for call in calls if truncated(call)]
    lines: list[str] = []
    hint = None
    if hits:
        lines, hint = _leaked(wanted, hits, evidence)
    elif cut:
        lines = [
            (
                f"Only a part of the result of {as_made(cut[0])} was kept, so the rest may hold "
                f"{show(wanted)}"
            )
        ]
    return CheckFinding(
        label=_label(params),
        verdict="failed" if hits else "not_judged" if cut else "passed",
        expected={"not_contains": wanted},
        actual=_texts([call for call, _ in hits]),
        explanation=lines,
        hint=hint,
        facts=policy_facts(calls, crossed=bool(hits)),
    )


_SEEN = ", and what the user saw"


def _leaked(
    wanted: str, hits: Sequence[tuple[ToolCall, Passage]], evidence: Evidence
) -> tuple[list[str], str]:
    lines = [f"Tool result contains forbidden text: {show(wanted)}"]
    lines += [f"{as_made(call, 80)} returned “{found.context}”" for call, found in hits[:3]]
    repeated = contains(wanted, evidence.transcript.answer)
    lines.append(
        "The answer repeats it."
        if repeated
        else "The answer does not repeat it, but the model has seen it."
    )
    lines.append(
        f"Line{'s' if repeated else ''} crossed: what the server "
        f"allowed{_SEEN if repeated else ''}."
    )
    sent = show(hits[0][0].arguments, 2_000)
    if contains(wanted, sent):
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

TOOL_RESULT_CONTAINS = Kind(
    name="tool_result_contains",
    schema=one_or_list(_TEXT_ITEM),
    read=several(_read_text),
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
TOOL_RESULT_NOT_CONTAINS = Kind(
    name="tool_result_not_contains",
    schema=one_or_list(_TEXT_ITEM),
    read=several(_read_text),
    judge=_judge_not_contains,
    claims=lambda params: [TextClaim(of="result", tool=params.get("tool"), lacks=params["text"])],
    doc=CheckDoc(
        section="Results",
        asks="no tool returned this text. A leak that the answer does not repeat is still a leak",
        fails=("Tool result contains forbidden text: …",),
        example='tool_result_not_contains: [{text: "555-", severity: warn}]',
    ),
)
