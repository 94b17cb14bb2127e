"""A call that the server never answered is the server's fault, and no verdict on the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.judging.trial import server_fault
from harness.types import Case, Check, CheckResult, Limits, Outcome, Stop, ToolCall, Transcript

NO_ANSWER: list[Outcome] = ["timeout", "server_lost", "invalid_result"]


def made(
    outcome: Outcome,
    *,
    tool: str = "get_order",
    reply: int = 1,
    start: float = 0,
    took: float = 1,
    **args: Any,
) -> ToolCall:
    return ToolCall(
        tool=tool,
        arguments=args,
        outcome=outcome,
        reply=reply,
        text=f"it ended in {outcome}",
        started_s=start,
        duration_s=took,
    )


def case(*checks: tuple[str, dict[str, Any]], timeout_s: float | None = None) -> Case:
    asked = tuple(Check(kind=kind, params=params) for kind, params in checks)
    return Case(name="c", prompt="p", checks=asked, limits=Limits(timeout_s=timeout_s))


def blames(
    asked: Case, *calls: ToolCall, results: tuple[CheckResult, ...] = (), stop: Stop = "answer"
) -> bool:
    return server_fault(asked, Transcript(tool_calls=calls, stop=stop), results) is not None


MUST_CALL = ("must_call", {"tool": "get_order", "args": {}})


@pytest.mark.parametrize("outcome", NO_ANSWER)
@pytest.mark.parametrize("verdict", ["passed", "failed"])
def test_a_call_without_answer_leaves_no_verdict_on_the_model(
    outcome: Outcome, verdict: Any
) -> None:
    found = CheckResult(kind="must_call", label="must_call get_order", verdict=verdict)
    told = Transcript(tool_calls=(made("ok"), made(outcome, id=7)), stderr_tail="last words")
    fault = server_fault(case(MUST_CALL), told, (found,))
    assert fault is not None
    assert (fault.kind, fault.detail) == ("server", "last words")
    assert fault.message == (
        'call 2, get_order({"id": 7}), has no result, so the model\'s reaction '
        "to a result is unknown: "
        f"it ended in {outcome}"
    )


@pytest.mark.parametrize(
    "outcome", ["ok", "tool_error", "denied", "unknown_tool", "invalid_arguments", "blocked"]
)
def test_an_answer_of_whatever_sort_is_judged(outcome: Outcome) -> None:
    assert not blames(case(MUST_CALL), made(outcome))


@pytest.mark.parametrize("outcome", NO_ANSWER)
def test_the_same_call_made_again_and_answered_makes_up_for_it(outcome: Outcome) -> None:
    lost = made(outcome, id=7)
    assert not blames(case(MUST_CALL), lost, made("ok", reply=2, id=7))
    assert not blames(case(MUST_CALL), lost, made("tool_error", reply=2, id=7))
    assert blames(case(MUST_CALL), lost, made("ok", reply=2, id=8)), "that is another question"
    assert blames(case(MUST_CALL), lost, made("ok", reply=1, id=7)), (
        "that was asked at the same time"
    )
    assert blames(case(MUST_CALL), lost, made(outcome, reply=2, id=7))
    assert blames(case(MUST_CALL), lost, made("blocked", reply=2, id=7))
    assert blames(case(MUST_CALL), made("ok", reply=1, id=7), made(outcome, reply=2, id=7))


def test_a_case_that_asks_for_the_failure_is_judged_by_it() -> None:
    lost = made("timeout", id=7)
    assert not blames(case(("must_error", {"tool": "get_order", "args": {}})), lost)
    assert blames(case(("must_error", {"tool": "get_order", "args": {"id": 8}})), lost)
    assert blames(case(("must_error", {"tool": "weather", "args": {}})), lost)
    assert not blames(case(("recovers_from_error", {})), lost)
    assert not blames(case(("recovers_from_error", {"tool": "get_order"})), lost)
    assert blames(case(("recovers_from_error", {"tool": "weather"})), lost)
    member = Check(kind="must_error", params={"tool": "get_order", "args": {}})
    group = Check(kind="any_of", params={}, options=((member,),))
    assert not blames(replace(case(), checks=(group,)), lost)


def result(
    kind: str, *, severity: Any = "fail", verdict: Any = "failed", **more: Any
) -> CheckResult:
    return CheckResult(kind=kind, label=kind, verdict=verdict, severity=severity, **more)


@pytest.mark.parametrize("kind", ["must_not_call", "only_call", "tool_result_not_contains"])
def test_a_prohibition_that_was_broken_stays_a_failure(kind: str) -> None:
    assert not blames(case(), made("timeout"), results=(result(kind),))
    assert blames(case(), made("timeout"), results=(result(kind, severity="warn"),))
    assert blames(case(), made("timeout"), results=(result(kind, verdict="passed"),))


def test_what_the_server_let_through_stays_a_failure() -> None:
    denied = result("must_be_denied", expected={"tool": "delete", "args": {}, "outcome": "denied"})
    assert not blames(case(), made("timeout"), made("ok", tool="delete"), results=(denied,))
    assert blames(case(), made("ok"), made("timeout", tool="delete"), results=(denied,))
    assert not blames(
        case(), made("timeout"), results=(result("decision", actual={"is": "allowed"}),)
    )
    assert blames(case(), made("timeout"), results=(result("decision", actual={"is": "error"}),))


@pytest.mark.parametrize(("start", "blamed"), [(0, True), (4.0, True), (6.0, False)])
def test_a_call_that_the_trial_itself_cut_off_is_blamed_only_after_a_fair_share_of_its_time(
    start: float, blamed: bool
) -> None:
    cut = made("timeout", start=start, took=10 - start)
    assert blames(case(MUST_CALL, timeout_s=10), cut, stop="time_limit") == blamed


@pytest.mark.parametrize("stop", ["aborted", "cancelled"])
def test_a_call_that_was_cut_off_on_purpose_blames_nobody(stop: Stop) -> None:
    assert not blames(case(MUST_CALL), made("timeout"), stop=stop)


@pytest.mark.parametrize(
    ("start", "took", "blamed"),
    [
        (5.0, 5.0, True),  # half of the time is a fair share
        (5.125, 4.875, False),
        (5.125, 4.75, True),  # it ended by itself before the trial did
        (5.15, 4.75, False),  # a tenth of a second before the end it is given up
        (5.2, 4.75, False),
    ],
)
def test_the_bounds_of_a_fair_share_and_of_being_cut_off(
    start: float, took: float, blamed: bool
) -> None:
    call = made("timeout", start=start, took=took)
    assert blames(case(MUST_CALL, timeout_s=10), call, stop="time_limit") == blamed
    lost = made("server_lost", start=start, took=took)
    assert blames(case(MUST_CALL, timeout_s=10), lost, stop="time_limit"), "nobody cut that one off"
