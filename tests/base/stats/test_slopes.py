"""The fall of accuracy with the length of a list: known curves, degenerate data, coverage."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist, fmean

import pytest

from harness.base.stats.paired_tests import sign_flip
from harness.base.stats.slopes import fit_slope
from harness.base.stats.units import Trials

LENGTHS = (0, 8, 32, 128)


def cases_of(rows: Sequence[tuple[int, ...]], trials: int = 1) -> list[dict[int, Trials]]:
    return [dict(zip(LENGTHS, ((one, trials) for one in row), strict=True)) for row in rows]


def test_data_that_lie_on_a_curve_give_back_that_curve() -> None:
    # So many cases that the prior no longer matters: rates 1/(1 + e^(b·log₂(1 + k) − a)).
    a, b, many = 2.0, 0.3, 10_000
    row = tuple(round(many / (1 + math.exp(b * math.log2(1 + k) - a))) for k in LENGTHS)
    found = fit_slope(cases_of([row] * 400, many))
    assert found is not None
    assert found.fall == pytest.approx(b, abs=0.005)
    assert found.curve[0].accuracy == pytest.approx(1 / (1 + math.exp(-a)), abs=0.002)
    assert found.curve[-1].added == pytest.approx(128)


@pytest.mark.parametrize("right", [(1, 1, 1, 1), (0, 0, 0, 0)])
@pytest.mark.parametrize("count", [2, 12, 60])
def test_cases_that_all_end_alike_show_no_fall_and_no_certainty_either(
    right: tuple[int, ...], count: int
) -> None:
    found = fit_slope(cases_of([right] * count))
    assert found is not None
    assert found.fall == pytest.approx(0, abs=1e-9)
    assert found.test.p_value == 1
    low, high = found.interval
    assert low == pytest.approx(-high)
    assert high > 0.3  # even 60 cases may hide what only the longest list breaks
    last = found.curve[-1]
    assert last.band[0] < last.accuracy < last.band[1]


def test_cases_that_break_as_the_list_grows_show_a_fall() -> None:
    rows = [(1, 1, 1, 1)] * 6 + [(1, 1, 1, 0)] * 6 + [(1, 1, 0, 0)] * 6
    found = fit_slope(cases_of(rows))
    assert found is not None
    assert 0 < found.interval[0] < found.fall < found.interval[1]
    accuracies = [point.accuracy for point in found.curve]
    assert accuracies == sorted(accuracies, reverse=True)
    assert found.test.p_value == sign_flip([3.0] * 6 + [4.0] * 6)


def test_a_list_that_helps_shows_as_a_fall_below_zero() -> None:
    falling = [(1, 1, 1, 0)] * 8 + [(1, 1, 0, 0)] * 8 + [(1, 0, 0, 0)] * 8
    rising = [tuple(reversed(row)) for row in falling]
    found = fit_slope(cases_of(rising))
    assert found is not None
    assert found.fall < 0
    assert found.interval[1] < 0


def test_only_cases_with_a_verdict_at_every_length_count() -> None:
    rows = cases_of([(1, 1, 1, 1), (1, 1, 1, 0), (1, 0, 0, 0)])
    found = fit_slope([*rows, {0: (1, 1), 8: (0, 0), 32: (1, 1), 128: (1, 1)}, {0: (1, 1)}])
    assert found == fit_slope(rows)
    assert fit_slope(rows[:1]) is None
    assert fit_slope([{8: (1, 1)}, {8: (0, 1)}]) is None
    assert fit_slope([]) is None


_NORMAL = [NormalDist().inv_cdf((step + 0.5) / 400) for step in range(400)]


def _true_fall(level: float, spread: float, fall: float) -> float:
    """Return the slope of the accuracy over all cases there could be."""
    shares = [
        fmean(1 / (1 + math.exp(-(level + spread * one - fall * math.log2(1 + k))))
              for one in _NORMAL)
        for k in LENGTHS
    ]  # fmt: skip
    whole = fit_slope(cases_of([tuple(round(10**6 * share) for share in shares)] * 3_000, 10**6))
    assert whole is not None
    return whole.fall


@pytest.mark.slow
@pytest.mark.parametrize("cases", [8, 12, 20])
@pytest.mark.parametrize(
    ("level", "spread", "fall", "trials"),
    [
        (6, 1, 0.0, 1),
        (3, 3, 0.0, 3),
        (4, 2, 0.4, 1),
        (2, 3, 0.3, 3),
        (1, 4, 0.2, 1),
        (6, 2, 0.8, 1),
    ],
)
def test_the_interval_holds_the_true_fall_in_at_least_94_of_100_simulated_studies(
    cases: int, level: float, spread: float, fall: float, trials: int
) -> None:
    truth = _true_fall(level, spread, fall)
    rng, studies, held = random.Random(5), 500, 0
    for _ in range(studies):
        rows = []
        for _ in range(cases):
            own = rng.gauss(level, spread)
            chances = [1 / (1 + math.exp(-(own - fall * math.log2(1 + k)))) for k in LENGTHS]
            rows.append(tuple(sum(rng.random() < p for _ in range(trials)) for p in chances))
        found = fit_slope(cases_of(rows, trials), points=2)
        assert found is not None
        held += found.interval[0] <= truth <= found.interval[1]
    assert held / studies >= 0.94, held / studies
