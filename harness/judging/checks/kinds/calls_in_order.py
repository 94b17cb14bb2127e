"""``must_call_in_order``: calls in this order; ``strict``: with no other call between them.

Calls of one reply count in the order in which the reply lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness.base import InvalidValue
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.explaining.missing_call import explain_missing_call
from harness.judging.checks.explaining.transcript_lines import (
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
    make_single_reader,
)
from harness.judging.checks.kinds.calls_together import format_expected, format_tools
from harness.judging.checks.parsing import CALL, call_list, describe_type, either_form
from harness.judging.matching.calls import find_matching_calls, matches_call
from harness.judging.matching.texts import clip_text
from harness.types import JsonObject, ToolCall


def _read_params(value: Any) -> JsonObject:
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
        why = _explain_missing(steps, places, evidence)
    elif params.get("strict") and not _are_consecutive(steps, calls):
        why = _explain_between(steps, places, calls)
    return CheckFinding(
        label=" → ".join(format_tools(params).split(", ")),
        expected={"in_order": format_expected(params), "strict": params.get("strict", False)},
        actual=report_calls(calls),
        why=why,
    )


def _explain_missing(
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


def _yield_claims(params: JsonObject) -> Iterator[CallsClaim]:
    yield CallsClaim(least=len(params["calls"]))
    # Steps of one tool are different calls, so they add up.
    for tool, times in Counter(step["tool"] for step in params["calls"]).items():
        yield CallsClaim(tool=tool, least=times)
    for step in format_expected(params):
        yield CallsClaim(**step, least=1)


MUST_CALL_IN_ORDER = FunctionKind(
    name="must_call_in_order",
    schema=either_form(
        "calls", {"type": "array", "items": CALL, "minItems": 2}, strict={"type": "boolean"}
    ),
    read=make_single_reader(_read_params),
    judge=_judge_order,
    order="in_order",
    traits=lambda _params: ("expects_calls",),
    wanted_calls=listed_calls,
    claims=_yield_claims,
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
