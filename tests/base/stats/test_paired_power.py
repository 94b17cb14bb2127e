"""What a number of cases can show, against published figures and against simulated studies."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from statistics import NormalDist

import pytest

from harness.base.stats.intervals import t_quantile
from harness.base.stats.paired_tests import compute_mcnemar_p, paired_test
from harness.base.stats.power import (
    compute_mcnemar_power,
    count_cases_needed,
    count_pairs_needed,
    detectable_difference,
    effective_repeats,
    pairs_needed,
)

REFERENCE = [(0.10, 0.20, 155), (0.05, 0.10, 312), (0.05, 0.20, 626), (0.15, 0.20, 68)]


@pytest.mark.parametrize(("difference", "discordance", "cases"), [*REFERENCE, (0.10, 0.30, 234)])
def test_the_cases_that_a_difference_needs_are_the_published_ones(
    difference: float, discordance: float, cases: int
) -> None:
    assert pairs_needed(difference, discordance) == cases


@pytest.mark.parametrize(("margin", "discordance", "cases"), [(0.05, 0.10, 248), (0.10, 0.20, 124)])
def test_the_cases_that_non_inferiority_needs_are_the_published_ones(
    margin: float, discordance: float, cases: int
) -> None:
    assert count_pairs_needed(margin, discordance) == cases


def test_pairs_cannot_differ_less_often_than_the_sides() -> None:
    with pytest.raises(ValueError, match="discordance"):
        pairs_needed(0.2, 0.1)


def test_pairs_that_differ_only_the_one_way_need_the_fewest_cases() -> None:
    # (1.960·√0.2 + 0.8416·√(0.2 − 0.04))²/0.04 = 36.8
    assert pairs_needed(0.2, 0.2) == 37


def test_trials_of_a_case_count_as_independent_and_as_one_unless_said_otherwise() -> None:
    assert detectable_difference(30, 0.2) == detectable_difference(30, 0.2, trials=1, icc=1.0)
    assert detectable_difference(30, 0.2, trials=4) == detectable_difference(
        30, 0.2, trials=4, icc=0.0
    )
    assert count_cases_needed(0.2, 0.3) == count_cases_needed(0.2, 0.3, trials=1, icc=1.0)
    assert count_cases_needed(0.2, 0.3, trials=4) == count_cases_needed(0.2, 0.3, trials=4, icc=0.0)


def test_repeats_are_worth_little_where_the_trials_of_a_case_are_alike() -> None:
    assert effective_repeats(3, 0.79) == pytest.approx(1.16, abs=0.005)
    assert effective_repeats(10, 0.79) == pytest.approx(1.23, abs=0.005)
    assert effective_repeats(10, 0.0) == 10
    assert effective_repeats(10, 1.0) == 1


def test_the_power_of_one_pair_table_is_the_share_of_its_outcomes_that_are_evidence() -> None:
    # Six cases that all differ: evidence only if all six got better (or worse).
    assert compute_mcnemar_p(0, 6) < 0.05 < compute_mcnemar_p(1, 5)
    assert compute_mcnemar_power(6, 0.5, 1.0) == pytest.approx(0.75**6)
    assert compute_mcnemar_power(5, 1.0, 1.0) == 0


def test_too_few_cases_can_show_nothing_at_all() -> None:
    assert detectable_difference(5, 0.2) is None
    assert detectable_difference(6, 0.2) is not None
    assert detectable_difference(1, 0.2, trials=10, icc=0.5) is None


def test_more_cases_show_smaller_differences_and_so_do_repeats() -> None:
    found = [detectable_difference(cases, 0.2) or 1 for cases in (8, 20, 60, 200, 600)]
    assert found == sorted(found, reverse=True)
    alike = detectable_difference(60, 0.2, trials=10, icc=0.79)
    unlike = detectable_difference(60, 0.2, trials=10, icc=0.0)
    assert alike is not None
    assert unlike is not None
    assert unlike < alike < found[2]


@pytest.mark.parametrize("trials", [1, 4])
@pytest.mark.parametrize(("difference", "discordance"), [(0.1, 0.2), (0.3, 0.4), (0.5, 0.2)])
def test_a_difference_is_detectable_in_as_many_cases_as_it_needs_and_in_hardly_fewer(
    difference: float, discordance: float, trials: int
) -> None:
    needed = count_cases_needed(difference, discordance, trials=trials, icc=0.5)
    enough = detectable_difference(needed, discordance, trials=trials, icc=0.5)
    fewer = detectable_difference(needed - 2, discordance, trials=trials, icc=0.5)
    assert enough is not None
    assert enough <= difference + 1e-4
    assert fewer is None or fewer > difference


def test_what_every_study_shows_is_detectable_with_certainty() -> None:
    assert detectable_difference(6, 0.2, power=1.0) == pytest.approx(1.0, abs=1e-3)
    assert detectable_difference(5, 0.2, power=1.0) is None


@pytest.mark.parametrize(
    ("cases", "discordance", "trials", "icc"),
    [(5, 0.5, 2, 0.3), (8, 0.3, 5, 0.2), (30, 0.2, 3, 0.79)],
)
def test_with_repeats_the_power_is_that_of_the_noncentral_t_distribution(
    cases: int, discordance: float, trials: int, icc: float
) -> None:
    planned = detectable_difference(cases, discordance, trials=trials, icc=icc)
    assert planned is not None
    spread = max(discordance, planned) - planned**2
    shift = planned / math.sqrt(spread * (1 + (trials - 1) * icc) / trials / cases)
    assert _noncentral_t_tail(cases - 1, shift) == pytest.approx(0.8, abs=0.005)


def _noncentral_t_tail(df: int, shift: float) -> float:
    """P(T > its 97.5 % quantile).

    Over all spreads s, by density, the chance of a normal value above t·s.
    """
    t, steps = t_quantile(0.975, df), 2_000
    whole = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    spreads = [(step + 0.5) * 6 / steps for step in range(steps)]
    return (
        sum(
            math.exp(whole + (df - 1) * math.log(s) - df * s * s / 2)
            * NormalDist().cdf(shift - t * s)
            for s in spreads
        )
        * 6
        / steps
    )


def test_a_difference_larger_than_the_usual_discordance_brings_its_own() -> None:
    found = detectable_difference(12, 0.05)
    assert found is not None
    assert found > 0.05


# ── Against simulated studies ────────────────────────────────────────────────────────────────


def _differences(
    rng: random.Random, cases: int, difference: float, discordance: float, trials: int, icc: float
) -> Iterator[float]:
    """Yield the difference of each case of one study.

    A trial moves up, down or not at all (+1, −1, 0 with the given discordance and difference); the
    trials of a case share one such move with chance √ICC each, so two of them correlate by ICC.
    """
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    for _ in range(cases):
        common = _move(rng, up, down)
        moves = [common if rng.random() < icc**0.5 else _move(rng, up, down) for _ in range(trials)]
        yield sum(moves) / trials


def _move(rng: random.Random, up: float, down: float) -> int:
    drawn = rng.random()
    return 1 if drawn < up else -1 if drawn < up + down else 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cases", "discordance", "trials", "icc"),
    [
        (20, 0.2, 1, 0.0),
        (40, 0.3, 1, 0.0),
        (155, 0.2, 1, 0.0),
        (20, 0.3, 3, 0.5),
        (40, 0.2, 3, 0.79),
        (40, 0.2, 5, 0.2),
        (120, 0.15, 10, 0.79),
    ],
)
def test_the_detectable_difference_is_found_in_four_of_five_simulated_studies(
    cases: int, discordance: float, trials: int, icc: float
) -> None:
    """The difference found by simulation in 80 % of studies is within a point of the planned."""
    planned = detectable_difference(cases, discordance, trials=trials, icc=icc)
    assert planned is not None

    def share_found(difference: float) -> float:
        rng, studies, found = random.Random(7), 4_000, 0
        for _ in range(studies):
            moves = list(
                _differences(rng, cases, difference, max(discordance, difference), trials, icc)
            )
            test = paired_test(moves, repeated=trials > 1)
            found += test is not None and test.p_value <= 0.05 and sum(moves) > 0
        return found / studies

    assert share_found(planned - 0.01) < 0.8 < share_found(planned + 0.01)
