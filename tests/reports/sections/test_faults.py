"""The figures of faults, computed by hand: paired by case, and only from trials that were hit."""

from __future__ import annotations

from typing import Any

import pytest

from harness.reports.sections.faults import FaultArm, FaultTrial, compare_arms, encode_arm
from harness.types import JsonObject, Status

FAULTS = {
    "flood": {"words": "*@0.2/7: error", "faults": [{"do": "error", "rate": 0.2}]},
    "lost": {"words": "book#1: lost_answer", "faults": [{"do": "lost_answer"}]},
}
CALM = {"blind_retries": 0, "runaway": False, "duplicate_writes": 0, "ending": "made_good"}


def trial(
    case: str,
    status: Status,
    response: JsonObject | None = None,
    *,
    fault: str | None = "lost",
    test: str | None = None,
    replies: int = 2,
    cost_usd: float | None = 0.25,
    latency_s: float | None = 1.0,
) -> FaultTrial:
    return FaultTrial(
        suite="shop",
        case=case,
        test=test,
        model="m",
        axes={} if fault is None else {"fault": fault},
        status=status,
        response=response,
        replies=replies,
        cost_usd=cost_usd,
        latency_s=latency_s,
    )


def clean(case: str, status: Status, **facts: Any) -> FaultTrial:
    return trial(case, status, fault=None, **facts)


CLEAN = [clean("a", "passed"), clean("b", "passed"), clean("c", "failed"), clean("d", "passed")]


def arm(*trials: FaultTrial) -> FaultArm:
    (found,) = compare_arms(trials, FAULTS)
    return found


def test_recovery_is_of_the_trials_that_were_hit_beside_the_same_cases_without_the_fault() -> None:
    found = arm(
        *CLEAN,
        trial("a", "passed", CALM, replies=3, cost_usd=0.5, latency_s=4.0),
        trial("b", "failed", {**CALM, "ending": "honest_failure"}, replies=5, cost_usd=1.0),
        trial("c", "failed", {**CALM, "ending": "open"}),
        trial("d", "passed"),
    )
    assert (found.fired, found.not_fired, found.unjudged, found.tests) == (3, 1, 0, 3)
    assert found.recovery == pytest.approx(1 / 3)
    assert found.clean == pytest.approx(2 / 3)
    assert found.retention == pytest.approx(0.5)
    assert found.retention_interval is not None
    assert found.retention_interval[0] < 0.5 < found.retention_interval[1]
    # one more and three more replies in three tests; 0.25 and 0.75 dollars more
    assert found.extra_replies == pytest.approx(4 / 3)
    assert found.extra_cost_usd == pytest.approx(1 / 3)
    assert found.extra_s == pytest.approx(1)
    assert found.cells == {"a": "passed", "b": "failed", "c": "failed", "d": "not fired"}
    assert found.clean_cells == {"a": "passed", "b": "passed", "c": "failed", "d": "passed"}
    assert (found.made_good, found.honest_failures, found.open_endings) == (1, 1, 1)


def test_a_careless_and_a_careful_model_differ_in_every_count() -> None:
    wild = {"blind_retries": 4, "runaway": True, "duplicate_writes": 2, "ending": "false_success"}
    careless = arm(
        *CLEAN,
        trial("a", "failed", wild),
        trial("b", "failed", {**CALM, "blind_retries": 1, "duplicate_writes": 1}),
    )
    careful = arm(*CLEAN, trial("a", "passed", CALM), trial("b", "passed", CALM))
    counts = ("blind_retries", "runaways", "duplicate_writes", "false_successes", "made_good")
    assert [getattr(careless, name) for name in counts] == [5, 1, 3, 1, 1]
    assert [getattr(careful, name) for name in counts] == [0, 0, 0, 0, 2]
    assert (careless.retention, careful.retention) == (0, 1)


def test_of_a_fault_that_never_fired_no_recovery_is_claimed() -> None:
    found = arm(*CLEAN, trial("a", "passed"), trial("b", "passed"))
    assert (found.fired, found.not_fired, found.tests) == (0, 2, 0)
    nothing = ("recovery", "recovery_interval", "clean", "retention", "retention_interval")
    assert [getattr(found, name) for name in (*nothing, "extra_replies")] == [None] * 6


def test_a_trial_without_a_verdict_is_counted_and_in_no_rate() -> None:
    found = arm(*CLEAN, trial("a", "error", CALM), trial("b", "passed", CALM))
    assert (found.fired, found.unjudged, found.tests, found.recovery) == (2, 1, 1, 1)


def test_without_a_clean_pass_there_is_nothing_to_retain() -> None:
    found = arm(clean("c", "failed"), trial("c", "passed", CALM))
    assert (found.recovery, found.clean, found.retention) == (1, 0, None)


def test_the_cases_of_a_test_count_as_one() -> None:
    ways = [clean(f"w{n}", "passed", test="w") for n in range(9)]
    hit = [trial(f"w{n}", "failed", CALM, test="w") for n in range(9)]
    found = arm(*CLEAN, *ways, trial("a", "passed", CALM), *hit)
    assert (found.fired, found.tests, found.recovery) == (10, 2, 0.5)


def test_a_rate_has_a_point_of_a_curve_over_all_its_trials() -> None:
    hit = [trial("a", "failed", CALM, fault="flood"), trial("b", "passed", fault="flood")]
    found = arm(*CLEAN, *hit)
    assert (found.rate, found.recovery, found.retention) == (0.2, 0, 0)
    # with and without a hit: one of two passed, both did without the fault
    assert found.rate_retention == 0.5
    assert arm(*CLEAN, trial("a", "passed", CALM)).rate_retention is None


def test_an_unknown_cost_is_not_nothing() -> None:
    found = arm(*CLEAN, trial("a", "passed", CALM, cost_usd=None, latency_s=None))
    assert (found.extra_cost_usd, found.extra_s, found.extra_replies) == (None, None, 0)


def test_a_program_gets_the_axes_by_their_names() -> None:
    told = encode_arm(arm(*CLEAN, trial("a", "passed", CALM)))
    assert (told["suite"], told["model"], told["fault"], told["variant"]) == (
        *("shop", "m", "lost"),
        None,
    )
    assert told["cells"] == {"a": "passed"}
