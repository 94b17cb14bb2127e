"""Tests that permute conditions within cases: exact values, false alarms, and power."""

from __future__ import annotations

import random

import pytest

from harness.base.stats.paired_tests import (
    discordance_between,
    excess_discordance,
    homogeneity_p,
    spread_p,
    trend_p,
    trend_slope,
)


@pytest.mark.parametrize(
    ("conditions", "p_value"),
    [
        ([(3, 3), (0, 3)], 0.1),  # Fisher's exact test of 3 0 / 0 3
        ([(5, 5), (0, 5)], 1 / 126),
        ([(2, 3), (1, 3)], 1.0),
        ([(3, 3), (3, 3)], 1.0),
        ([(1, 1), (0, 1)], None),
        ([(3, 3)], None),
        ([(3, 3), (0, 0)], None),
    ],
)
def test_rates_of_one_case_are_compared_exactly(
    conditions: list[tuple[int, int]], p_value: float | None
) -> None:
    assert homogeneity_p(conditions) == (None if p_value is None else pytest.approx(p_value))


def test_conditions_that_never_differ_are_no_evidence() -> None:
    assert spread_p([[1, 1, 1]] * 20, seed=1) == 1.0
    assert spread_p([], seed=1) is None
    assert spread_p([[1.0]], seed=1) is None


def test_a_condition_that_always_loses_is_found() -> None:
    p = spread_p([[1, 1, 0]] * 12, seed=1)
    assert p is not None
    assert p < 0.01


def test_a_trend_over_places_is_found_with_its_slope() -> None:
    rows, places = [[1, 1, 0, 0]] * 10, [[0, 1 / 3, 2 / 3, 1]] * 10
    p = trend_p(rows, places, seed=1)
    assert p is not None
    assert p < 0.01
    assert trend_slope(rows, places) == pytest.approx(-1.2)
    assert trend_p([[1, 0]], [[0.5, 0.5]], seed=1) is None
    assert trend_slope([[1, 0]], [[0.5, 0.5]]) is None


def test_discordance_of_conditions_beyond_chance() -> None:
    assert discordance_between([(1, 1), (0, 1)]) == 1.0
    assert discordance_between([(1, 2), (1, 2)]) == 0.5
    assert discordance_between([(1, 1)]) is None
    assert excess_discordance([[(2, 2), (0, 2)], [(1, 1), (0, 1)]]) == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["spread", "trend", "one case"])
def test_equal_conditions_raise_a_false_alarm_in_at_most_five_of_a_hundred_studies(
    kind: str,
) -> None:
    rng = random.Random(kind)
    studies, alarms = 300, 0
    for study in range(studies):
        chances = [rng.betavariate(0.6, 0.4) for _ in range(25)]
        rows = [[float(rng.random() < chance) for _ in range(5)] for chance in chances]
        places = [[rng.random() for _ in range(5)] for _ in chances]
        if kind == "spread":
            p = spread_p(rows, seed=study, draws=199)
        elif kind == "trend":
            p = trend_p(rows, places, seed=study, draws=199)
        else:
            p = homogeneity_p([(sum(rng.random() < 0.6 for _ in range(4)), 4) for _ in range(4)])
        alarms += p is not None and p <= 0.05
    # 25 of 300 would happen by chance in 1 of 200 such tests with a true level of 5 %.
    assert alarms <= 25
