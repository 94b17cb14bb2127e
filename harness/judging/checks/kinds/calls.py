"""Checks on single calls: ``must_call`` and ``must_not_call``.

A call counts as soon as the model made it, however it ended: a refused call satisfies ``must_call``
(its explanation says so) and violates ``must_not_call``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.base import InvalidValue
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.explaining.missing_call import explain_missing_call
from harness.judging.checks.explaining.transcript_lines import (
    describe_call,
    describe_outcome,
    format_call,
    format_expected_call,
    format_tool_name,
    list_calls,
    list_several_calls,
    report_calls,
)
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    make_list_reader,
    one_call,
    policy_facts,
    single_or_list_schema,
)
from harness.judging.checks.parsing import (
    CALL_CHECK,
    TEXT,
    either_form,
    read_call,
    read_whole_number,
)
from harness.judging.matching.calls import find_forbidden_calls, find_matching_calls
from harness.judging.matching.differences import ArgumentDifference, find_differences
from harness.judging.matching.json_values import format_value
from harness.judging.matching.matchers import explain_unlike, is_matcher
from harness.judging.matching.texts import format_line
from harness.types import JsonObject, JsonPath, ToolCall, Verdict

_COUNT: JsonObject = {"type": "integer", "minimum": 1}
_COUNTS = ("times", "min_times", "max_times")


# ── must_call ────────────────────────────────────────────────────────────────────────────────


def _read_must_call(value: Any, path: JsonPath) -> JsonObject:
    found = read_call(value, path, more=_COUNTS)
    for key in _COUNTS:
        if key in found:
            found[key] = read_whole_number(found[key], (*path, key), at_least=1)
    if "times" in found and ("min_times" in found or "max_times" in found):
        raise InvalidValue(
            "times stands for both min_times and max_times: write one or the others", path=path
        )
    if found.get("min_times", 1) > found.get("max_times", found.get("min_times", 1)):
        raise InvalidValue("min_times is more than max_times", path=path)
    return found


def _judge_must_call(params: JsonObject, evidence: Evidence) -> CheckFinding:
    made = find_matching_calls(params, evidence.transcript)
    least = params.get("times", params.get("min_times", 1))
    most = params.get("times", params.get("max_times"))
    verdict: Verdict = "failed"
    if not made:
        why = explain_missing_call(params, evidence)
    elif len(made) < least:
        why = _explain_too_few(params, made, least)
    elif most is not None and len(made) > most:
        why = _explain_too_many(params, made, most)
    else:
        verdict, why = "passed", NOTHING_WRONG
        # It was made all the same: how it ended is only a note.
        if all(call.is_error for call in made):
            why = [f"The call was made, but it did not succeed: {describe_call(made[-1])}"], None
    return CheckFinding(
        label=format_value(params["tool"])[1:-1],
        verdict=verdict,
        expected={key: params[key] for key in ("tool", "args", *_COUNTS) if key in params},
        # Without a match all calls are reported, since one of them may be meant.
        actual=report_calls(made or evidence.transcript.tool_calls),
        why=why,
    )


def _explain_too_few(params: JsonObject, made: list[ToolCall], least: int) -> Explanation:
    wanted = f"{format_expected_call(params)} {_format_times(least)}"
    return [
        f"Expected call not found: {wanted}; it was made {_format_times(len(made))}.",
        *list_calls(made, "These were:"),
    ], "Name every item in the prompt that needs a call of its own, or lower min_times."


def _explain_too_many(params: JsonObject, made: list[ToolCall], most: int) -> Explanation:
    given = f"{format_expected_call(params)} {_format_times(len(made))}"
    lines = [
        f"Tool was called too often: {given}, expected {_format_times(most)} at most.",
        *list_calls(made, "These were:"),
    ]
    if failed := sum(call.is_error for call in made):
        return lines, (
            f"{failed} of these calls failed: let the tool's error say how to do better, so that "
            "fewer attempts are needed."
        )
    return lines, (
        "Let one call return everything that a question needs (or say in the description how to "
        "page and filter), or raise max_times."
    )


def _format_times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


MUST_CALL = FunctionKind(
    name="must_call",
    needs_model=True,
    schema=single_or_list_schema(
        either_form("tool", TEXT, args={"type": "object"}, **dict.fromkeys(_COUNTS, _COUNT))
    ),
    read=make_list_reader(_read_must_call),
    judge=_judge_must_call,
    traits=lambda _params: ("expects_calls",),
    wanted_calls=one_call,
    claims=lambda params: [
        CallsClaim(
            tool=params["tool"],
            args=params["args"],
            least=params.get("times", params.get("min_times", 1)),
            most=params.get("times", params.get("max_times")),
            enough=True,
        )
    ],
    doc=CheckDoc(
        section="Calls",
        asks=(
            "the tool was called, with these arguments among others; `times`, "
            "`min_times`, `max_times` count such calls"
        ),
        fails=(
            "Expected call not found: get_orders(…)",
            "Tool called with unexpected arguments: …",
            "Tool was called too often: …",
        ),
        example=(
            "must_call: [{tool: get_order, args: {id: 7}}, {tool: get_customer, "
            "min_times: 2, max_times: 4}]"
        ),
    ),
)


# ── must_not_call ────────────────────────────────────────────────────────────────────────────


def _judge_must_not_call(params: JsonObject, evidence: Evidence) -> CheckFinding:
    calls = evidence.transcript.tool_calls
    made = find_forbidden_calls(params, calls, evidence.tools)
    why = NOTHING_WRONG
    if made:
        worst = min(made, key=lambda call: _SEVERITY.get(call.outcome, 1))
        lines = [
            f"Tool was called although it must not be: {format_call(worst)}",
            _describe_effect(worst),
            _name_fault(worst),
            *list_several_calls(calls, "All calls, in order:"),
        ]
        why = lines, _hint_forbidden(worst, evidence)
    elif doubts := list(_find_doubts(params, evidence)):
        hint = "Forbid the value in the form in which the tool takes it"
        why = doubts, f"{hint}, or {{$not: …}} what is allowed."
    return CheckFinding(
        label=format_value(params["tool"])[1:-1],
        verdict="not_judged" if why[0] and not made else None,
        expected={"not": {"tool": params["tool"], "args": params["args"]}},
        actual=report_calls(made),
        why=why,
        facts=policy_facts(made, crossed=bool(made)),
    )


def _find_doubts(params: JsonObject, evidence: Evidence) -> Iterator[str]:
    """Yield each call that may be forbidden: its values are unlike the forbidden ones in kind only.

    A server may take "1042" for 1042, and "tomorrow" for a date.
    """
    for made in find_forbidden_calls(
        {"tool": params["tool"]}, evidence.transcript.tool_calls, evidence.tools
    ):
        found = find_differences(params["args"], made.arguments)
        # Arguments that were not accepted did nothing, whatever they mean.
        if found and all(map(_is_unlike, found)) and made.outcome != "invalid_arguments":
            why = "; ".join(one.note for one in found)
            yield f"Whether this call is forbidden cannot be known: {format_call(made)}: {why}"


def _is_unlike(found: ArgumentDifference) -> bool:
    sent = found.actual
    if not isinstance(sent, str | int | float):
        return False
    if is_matcher(found.expected):
        return bool(explain_unlike(found.expected, sent))
    return format_value(found.expected).strip('"') == format_value(sent).strip('"')


# The gravest outcome is told first. Any other counts 1: the server had the call, and may have done
# something.
_SEVERITY = {"ok": 0, "denied": 2, "unknown_tool": 3, "blocked": 4}


def _describe_effect(made: ToolCall) -> str:
    match made.outcome:
        case "ok":
            said = format_line(made.text, 140)
            return "The server carried it out" + (f": “{said}”" if said else ".")
        case "denied":
            return f"The model tried; the server refused it: “{format_line(made.text, 140)}”"
        case "unknown_tool":
            return "The model tried; the server has no such tool for this user."
        case "blocked":
            return "The model tried; the harness held the call back, so the server never saw it."
        case _:
            return f"The model tried; it ended so: {describe_outcome(made)}"


def _name_fault(made: ToolCall) -> str:
    """Say what was at fault: the model's choice, or what the server allowed."""
    if made.outcome == "ok":
        return "Lines crossed: what the model chose, and what the server allowed."
    refused = made.outcome in ("denied", "unknown_tool", "blocked")
    return f"Line crossed: what the model chose{'; the server gave nothing' if refused else ''}."


def _hint_forbidden(made: ToolCall, evidence: Evidence) -> str:
    tool = evidence.tools.get(made.tool)
    if made.outcome == "denied" and tool is None:
        return (
            "The policy held, and the tool is hidden from this user already: see where the model "
            "has its name from, the prompt or another tool's description."
        )
    if made.outcome == "denied":
        return (
            "The policy held, and the model tried all the same: hide the tool from this user, "
            "or say in its description who may use it."
        )
    if made.outcome == "unknown_tool":
        return (
            "The tool is hidden or does not exist, and the model named it all the same: see "
            "whether the prompt does."
        )
    if made.outcome == "ok" and evidence.case.caller.user_context:
        return (
            "The server let it through. If this user must not be able to do it, its policy has to "
            "refuse the call; if the model merely should not choose it, say in the description "
            "when it is not to be used."
        )
    unmarked = tool is not None and not tool.read_only and not tool.destructive
    marks = " and mark it with destructiveHint if it changes or deletes data" if unmarked else ""
    return (
        f"Say in the description of {format_tool_name(made.tool, evidence)} when it is not to be "
        f"used{marks}, or reword the prompt."
    )


MUST_NOT_CALL = FunctionKind(
    name="must_not_call",
    needs_model=True,
    schema=single_or_list_schema(CALL_CHECK),
    read=make_list_reader(read_call),
    judge=_judge_must_not_call,
    traits=lambda _params: ("forbids_calls",),
    # The call was made, whatever its answer would have been.
    stands_anyway=lambda _failed, _transcript: True,
    claims=lambda params: [
        CallsClaim(tool=params["tool"], args=params["args"], most=0, enough=True)
    ],
    doc=CheckDoc(
        section="Calls",
        asks="no call of the tool (with these arguments) was tried",
        fails=("Tool was called although it must not be: …",),
        example="must_not_call: [drop_table, {tool: search_orders, args: {limit: {$gt: 1000}}}]",
    ),
)
