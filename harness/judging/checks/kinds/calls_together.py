"""Checks on all calls together: of their order, any of them, no others, and at most so many.

Calls of one reply count in the order in which the reply lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from harness.base import InvalidValue, canonical_json
from harness.judging.checks.claims import CallsClaim, EitherClaim
from harness.judging.checks.explaining.missing_call import explain_missing_call, explain_no_calls
from harness.judging.checks.explaining.transcript_lines import (
    describe_call,
    explain_not_offered,
    format_call,
    format_expected_call,
    format_tool_name,
    list_calls,
    report_calls,
)
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    listed_calls,
    make_list_reader,
    make_single_reader,
    single_or_list_schema,
)
from harness.judging.checks.parsing import (
    CALL,
    TEXT,
    call_list,
    check_tool,
    describe_type,
    either_form,
    read_either_form,
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


# ── must_call_in_order ───────────────────────────────────────────────────────────────────────


def _read_order(value: Any) -> JsonObject:
    found = call_list(value, more=("strict",), at_least=2)
    if not isinstance(found.get("strict", False), bool):
        raise InvalidValue(
            f"strict is {describe_type(found['strict'])}, not true or false", path=("strict",)
        )
    return found


def _match_in_order(steps: Sequence[JsonObject], calls: Sequence[ToolCall]) -> list[int]:
    """Return the places of the calls that match the first steps, as many as were made in order."""
    places: list[int] = []
    for place, made in enumerate(calls):
        # The first call that fits a step leaves the most room for the steps after it.
        if len(places) < len(steps) and matches_call(steps[len(places)], made):
            places.append(place)
    return places


def _are_consecutive(steps: Sequence[JsonObject], calls: Sequence[ToolCall]) -> bool:
    # From every place: the first call that fits a step may not be the one that begins the sequence.
    return any(
        all(matches_call(step, calls[start + place]) for place, step in enumerate(steps))
        for start in range(len(calls) - len(steps) + 1)
    )


def _judge_order(params: JsonObject, evidence: Evidence) -> CheckFinding:
    steps, calls = params["calls"], evidence.transcript.tool_calls
    places = _match_in_order(steps, calls)
    why = NOTHING_WRONG
    if len(places) < len(steps):
        why = _explain_missing_step(steps, places, evidence)
    elif params.get("strict") and not _are_consecutive(steps, calls):
        why = _explain_between(steps, places, calls)
    return CheckFinding(
        label=" → ".join(format_tools(params).split(", ")),
        expected={"in_order": format_expected(params), "strict": params.get("strict", False)},
        actual=report_calls(calls),
        why=why,
    )


def _explain_missing_step(
    steps: Sequence[JsonObject], places: list[int], evidence: Evidence
) -> Explanation:
    step, calls = steps[len(places)], evidence.transcript.tool_calls
    if not find_matching_calls(step, evidence.transcript):
        lines, hint = explain_missing_call(step, evidence)
        chain = f"It is step {len(places) + 1} of {len(steps)}: {_format_chain(steps)}"
        return [*lines, chain], hint
    before = (
        f"after {format_call(calls[places[-1]], 80)}" if places else "where the sequence begins"
    )
    missing = f"Expected call not found: {format_expected_call(step)} {before}"
    lines = [
        f"{missing}; it was made, but out of order",
        f"Expected order: {_format_chain(steps)}",
        *list_calls(calls, "Called, in order:"),
    ]
    return lines, (
        f"Say in the description of {format_tool_name(step['tool'], evidence)} what it needs from "
        "the tools before it, or use must_call where the order does not matter."
    )


def _explain_between(
    steps: Sequence[JsonObject], places: list[int], calls: Sequence[ToolCall]
) -> Explanation:
    between = [
        call
        for place, call in enumerate(calls)
        if places[0] < place < places[-1] and place not in places
    ]
    first = format_call(between[0]) if between else _format_chain(steps)
    lines = [
        f"Unexpected call between expected ones: {first}",
        f"Expected with nothing between: {_format_chain(steps)}",
        *list_calls(calls, "Called, in order:"),
    ]
    return lines, "Leave `strict` out if calls between the steps do no harm."


def _format_chain(steps: Sequence[JsonObject]) -> str:
    return clip_text(" → ".join(format_expected_call(step, 60) for step in steps), 240)


def _yield_claims_of_order(params: JsonObject) -> Iterator[CallsClaim]:
    yield CallsClaim(least=len(params["calls"]))
    # Steps of one tool are different calls, so they add up.
    for tool, times in Counter(step["tool"] for step in params["calls"]).items():
        yield CallsClaim(tool=tool, least=times)
    for step in format_expected(params):
        yield CallsClaim(**step, least=1)


MUST_CALL_IN_ORDER = FunctionKind(
    name="must_call_in_order",
    needs_model=True,
    schema=either_form(
        "calls", {"type": "array", "items": CALL, "minItems": 2}, strict={"type": "boolean"}
    ),
    read=make_single_reader(_read_order),
    judge=_judge_order,
    order="in_order",
    traits=lambda _params: ("expects_calls",),
    wanted_calls=listed_calls,
    claims=_yield_claims_of_order,
    doc=CheckDoc(
        section="Calls",
        asks=(
            "these calls were made one after another; `strict: true`: with no other call "
            "between. Calls of one reply count in the order in which it lists them"
        ),
        fails=(
            "Expected call not found: … after …; it was made, but out of order",
            "Unexpected call between expected ones: …",
        ),
        example=(
            "must_call_in_order: {calls: [find_customer, update_customer], strict: true}"
            "  # short: [find_customer, update_customer]"
        ),
    ),
)


# ── must_call_any ────────────────────────────────────────────────────────────────────────────


def _judge_any(params: JsonObject, evidence: Evidence) -> CheckFinding:
    transcript = evidence.transcript
    made = [call for option in params["calls"] for call in find_matching_calls(option, transcript)]
    return CheckFinding(
        label=format_tools(params),
        expected={"any_of": format_expected(params)},
        actual=report_calls(made or transcript.tool_calls),
        why=NOTHING_WRONG if made else _explain_none(params["calls"], evidence),
    )


def _explain_none(options: Sequence[JsonObject], evidence: Evidence) -> Explanation:
    transcript = evidence.transcript
    calls = clip_text(", ".join(map(format_expected_call, options)), 300)
    absent = [why for call in options if (why := explain_not_offered(call["tool"], evidence))]
    called = {call.tool for call in transcript.tool_calls}
    # Probably the option that was meant, with other arguments.
    near = next((call for call in options if call["tool"] in called), None)
    lines, hint = explain_missing_call(near or options[0], evidence)
    if near is None:
        instead = list_calls(transcript.tool_calls, "Called instead, in order:")
        lines = instead or [explain_no_calls(transcript)]
    return [f"Expected call not found: any of {calls}", *absent[:3], *lines], hint


MUST_CALL_ANY = FunctionKind(
    name="must_call_any",
    needs_model=True,
    schema=either_form("calls", {"type": "array", "items": CALL, "minItems": 1}),
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
    why = NOTHING_WRONG
    if others:
        allowed = ", ".join(map(format_expected_call, params["calls"])) or "none"
        lines = [
            f"Tool was called although it must not be: {describe_call(others[0])}",
            f"Only these calls are expected: {clip_text(allowed, 300)}",
            *list_calls(calls, "All calls, in order:"),
        ]
        why = lines, _hint_only(others[0], params, evidence)
    return CheckFinding(
        label=format_tools(params) or "(no tool)",
        expected={"only": format_expected(params)},
        actual=report_calls(others or calls),
        why=why,
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
    needs_model=True,
    schema=either_form("calls", {"type": "array", "items": CALL, "minItems": 0}),
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
    read_limit = partial(read_whole_number, at_least=0)
    return check_tool(read_either_form(value, path, "limit", read_limit, optional=("tool",)), path)


def _parse_max_calls(value: Any) -> Any:
    parsed = make_list_reader(_read_max_calls)(value)
    tools = [params.get("tool") for _, params in parsed]
    for place, (path, _) in enumerate(parsed):
        if (tool := tools[place]) in tools[:place]:
            raise InvalidValue(f"there are two limits for {tool or 'all calls'}", path=path)
    return parsed


def _judge_max_calls(params: JsonObject, evidence: Evidence) -> CheckFinding:
    tool, limit = params.get("tool"), params["limit"]
    # As a prohibition is read: a limit covers the tool under its names on joined servers, too.
    calls = find_forbidden_calls({"tool": tool}, evidence.transcript.tool_calls, evidence.tools)
    which = f"calls of {tool}" if tool else "tool calls"
    why = NOTHING_WRONG
    if len(calls) > limit:
        first = f"Too many {which}: {len(calls)}, at most {limit} expected"
        why = [first, *list_calls(calls, "In order:")], _hint_many(calls)
    return CheckFinding(
        label=f"{limit} {tool}" if tool else str(limit),
        expected={"tool": tool, "at_most": limit} if tool else {"at_most": limit},
        actual=len(calls),
        why=why,
    )


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
    needs_model=True,
    schema=single_or_list_schema(
        either_form("limit", {"type": "integer", "minimum": 0}, tool=TEXT)
    ),
    read=_parse_max_calls,
    judge=_judge_max_calls,
    traits=lambda params: () if params["limit"] or "tool" in params else ("no_success",),
    claims=lambda params: [CallsClaim(tool=params.get("tool"), most=params["limit"], enough=True)],
    doc=CheckDoc(
        section="Calls",
        asks="at most so many calls, of all tools or of one",
        fails=("Too many tool calls: 7, at most 5 expected",),
        example="max_calls: [10, {limit: 2, tool: search_orders}]  # long: {limit: 10}",
    ),
)
