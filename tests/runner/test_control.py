from dataclasses import replace

import anyio
import pytest

from harness.runner.control import Control
from harness.runner.planning.request import RunBudget
from harness.types import CaseFacts, Status, TrialResult, Usage


def a_run(
    status: Status = "passed",
    *,
    cost: float | None = 0.0,
    tokens: int | None = 0,
    case: str = "case",
) -> TrialResult:
    usage = Usage(input_tokens=tokens, cost_usd=cost)
    return TrialResult(
        key="k",
        suite="s",
        case=CaseFacts(name=case),
        model="m",
        trial=1,
        status=status,
        usage=usage,
    )


def test_nothing_stops_a_run_without_a_budget() -> None:
    control = Control(RunBudget())
    for status in ("failed", "error", "passed"):
        control.add_usage(a_run(status, cost=None, tokens=None))
    assert control.stopped is None


def test_reaching_the_cost_stops_the_run() -> None:
    control = Control(RunBudget(max_cost_usd=0.10))
    reasons = []
    for _ in range(2):
        control.add_usage(a_run(cost=0.06))
        reasons.append(control.stopped)
    assert reasons == [None, "budget"]


def test_a_cost_that_is_unknown_stops_a_run_that_has_a_budget() -> None:
    control = Control(RunBudget(max_cost_usd=10))
    control.add_usage(a_run(cost=None))
    assert control.stopped == "budget"
    assert control.note is not None
    assert "unknown" in control.note


def test_reaching_the_tokens_stops_the_run() -> None:
    control = Control(RunBudget(max_tokens=100))
    control.add_usage(a_run(tokens=100))
    assert control.stopped == "budget"


def test_what_an_earlier_part_of_a_run_used_counts() -> None:
    assert Control(RunBudget(max_cost_usd=5), Usage(cost_usd=5.0)).stopped == "budget"
    control = Control(RunBudget(max_cost_usd=5), Usage(cost_usd=4.0))
    reasons = []
    for _ in range(2):
        control.add_usage(a_run(cost=0.6))
        reasons.append(control.stopped)
    assert reasons == [None, "budget"]


def test_a_resumed_run_keeps_its_bounds_on_money_and_tokens_unless_others_are_given() -> None:
    recorded = {
        "budget": {"max_cost_usd": 5.0, "max_tokens": 100, "max_errors": 1, "fail_fast": True}
    }
    assert RunBudget().fill_unset(recorded) == RunBudget(max_cost_usd=5.0, max_tokens=100)
    given = RunBudget(max_cost_usd=9.0, max_errors=3)
    assert given.fill_unset(recorded) == RunBudget(max_cost_usd=9.0, max_tokens=100, max_errors=3)
    assert given.fill_unset({}) == given


def test_too_many_errors_stop_the_run_and_failures_do_not() -> None:
    control = Control(RunBudget(max_errors=2))
    reasons = []
    for status in ("error", "failed", "failed", "error"):
        control.add_usage(a_run(status))
        reasons.append(control.stopped)
    assert reasons == [None, None, None, "max-errors"]


@pytest.mark.parametrize("status", ["failed", "error"])
def test_fail_fast_stops_at_the_first_trial_that_does_not_pass(status: Status) -> None:
    control = Control(RunBudget(fail_fast=True))
    reasons = []
    for run in (a_run("passed"), a_run(status, case="culprit")):
        control.add_usage(run)
        reasons.append(control.stopped)
    assert reasons == [None, "fail-fast"]
    assert "culprit" in (control.note or "")


def test_fail_fast_lets_a_case_go_on_that_can_still_pass() -> None:
    control = Control(RunBudget(fail_fast=True))
    reasons = []
    endings: tuple[Status, ...] = ("failed", "passed", "error", "failed")
    for index, status in enumerate(endings):
        case = CaseFacts(name="c", pass_threshold=0.6)
        control.add_usage(replace(a_run(status), key=f"k{index}", repeats=5, case=case))
        reasons.append(control.stopped)
    assert reasons == [None, None, None, "fail-fast"]


def test_the_first_reason_stands() -> None:
    control = Control(RunBudget())
    control.stop("budget", "first")
    control.stop("fail-fast", "second")
    assert (control.stopped, control.note) == ("budget", "first")


def test_cancel_ends_exactly_the_trials_that_run() -> None:
    async def scenario() -> tuple[bool, bool]:
        control = Control(RunBudget())
        running, finished = anyio.CancelScope(), anyio.CancelScope()
        control.running.add(running)
        control.running.add(finished)
        control.running.discard(finished)
        control.cancel_trials()
        return running.cancel_called, finished.cancel_called

    assert anyio.run(scenario) == (True, False)


def used(cost: float | None = 0.0, tokens: int | None = 0) -> Usage:
    return Usage(input_tokens=tokens, output_tokens=0, cost_usd=cost)


def test_what_is_left_of_a_budget_is_less_by_what_was_used() -> None:
    budget = RunBudget(max_cost_usd=5.0, max_tokens=100, max_errors=3)
    assert budget.left_after(used(2.0, 60)) == RunBudget(
        max_cost_usd=3.0, max_tokens=40, max_errors=3
    )
    assert RunBudget().left_after(used(None, None)) == RunBudget()


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (RunBudget(max_cost_usd=5.0), used(5.0)),
        (RunBudget(max_cost_usd=5.0), used(7.0)),
        (RunBudget(max_cost_usd=5.0), used(None)),
        (RunBudget(max_tokens=100), used(tokens=100)),
        (RunBudget(max_tokens=100), used(tokens=None)),
    ],
)
def test_of_a_budget_that_is_used_up_or_cannot_be_known_nothing_is_left(
    budget: RunBudget, spent: Usage
) -> None:
    assert budget.left_after(spent) is None
