"""How alike the trials of a case are: known tables, and simulated cases."""

from __future__ import annotations

import random

import pytest

from harness.base.stats.intervals import (
    intraclass_correlation,
    measure_discordance,
    own_discordance,
)
from harness.base.stats.units import Trials


def test_cases_whose_trials_all_end_alike_have_an_icc_of_one() -> None:
    assert intraclass_correlation([(3, 3), (0, 3), (3, 3), (0, 3)]) == pytest.approx(1.0)


def test_cases_that_are_all_equally_mixed_have_an_icc_of_zero() -> None:
    assert intraclass_correlation([(1, 2), (1, 2), (1, 2)]) == 0


def test_a_table_that_was_worked_out_by_hand_has_its_icc() -> None:
    # Six cases of three trials, 3 2 0 2 3 1 passed: within 2/12, between (3·Σ(p − 11/18)²)/5.
    within, between = 2 / 12, 3 * sum((c / 3 - 11 / 18) ** 2 for c in (3, 2, 0, 2, 3, 1)) / 5
    expected = (between - within) / (between + 2 * within)
    cases = [(3, 3), (2, 3), (0, 3), (2, 3), (3, 3), (1, 3)]
    assert intraclass_correlation(cases) == pytest.approx(expected)


def test_two_cases_are_enough_to_tell_how_alike_trials_are() -> None:
    assert intraclass_correlation([(2, 2), (0, 2)]) == 1.0
    # Within: (0 + 1/2)/2, between: 2·(1/4)²·2.
    assert intraclass_correlation([(2, 2), (1, 2)]) == 0.0
    assert intraclass_correlation([(4, 4), (1, 4)]) == pytest.approx((1.125 - 0.125) / 1.5)


@pytest.mark.parametrize(
    "cases",
    [[], [(1, 3)], [(1, 1), (0, 1)], [(3, 3), (3, 3)], [(0, 2), (0, 2)], [(0, 0), (1, 3)]],
    ids=["none", "one case", "no repeats", "all passed", "all failed", "one judged case"],
)
def test_an_icc_that_the_data_does_not_determine_is_none(cases: list[Trials]) -> None:
    assert intraclass_correlation(cases) is None


@pytest.mark.parametrize("icc", [0.1, 0.5, 0.79])
def test_the_icc_of_simulated_cases_is_found_again(icc: float) -> None:
    # A case passes its trials with a chance drawn from a beta distribution, whose ICC is 1/(a+b+1).
    rng, weight = random.Random(3), 1 / icc - 1
    chances = [rng.betavariate(0.6 * weight, 0.4 * weight) for _ in range(3_000)]
    cases = [(sum(rng.random() < chance for _ in range(5)), 5) for chance in chances]
    assert intraclass_correlation(cases) == pytest.approx(icc, abs=0.03)


def test_the_discordance_of_one_side_is_that_of_any_two_of_its_trials() -> None:
    # One of three passed: of the three pairs of its trials two differ.
    assert own_discordance([(1, 3)]) == pytest.approx(2 / 3)
    assert own_discordance([(1, 3), (3, 3), (0, 1)]) == pytest.approx(1 / 3)
    assert own_discordance([(1, 1), (0, 1)]) is None
    assert own_discordance([(1, 2)]) == 1.0
    assert own_discordance([(2, 4)]) == pytest.approx(4 / 6)


def test_the_discordance_of_two_sides_is_averaged_over_the_cases_that_both_judged() -> None:
    pairs = [((1, 1), (0, 1)), ((1, 1), (1, 1)), ((1, 2), (1, 1)), ((1, 1), (0, 0))]
    assert measure_discordance(pairs) == pytest.approx((1 + 0 + 0.5) / 3)
    assert measure_discordance([((1, 1), (0, 0))]) is None
    assert measure_discordance([((1, 4), (1, 2))]) == pytest.approx(0.5)
    assert measure_discordance([((1, 4), (3, 4))]) == pytest.approx((1 + 9) / 16)
