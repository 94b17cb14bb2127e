"""The share of one of several equal options, with the trials of a case as one cluster."""

from __future__ import annotations

import random

import pytest

from harness.base.stats.choice_shares import measure_choice_share
from harness.base.stats.intervals import wilson_interval


def test_one_trial_a_case_has_wilsons_interval_and_the_exact_binomial_test() -> None:
    found = measure_choice_share([(1, 1)] * 9 + [(0, 1)] * 3, options=4)
    assert found is not None
    assert (found.cases, found.share, found.even, found.advantage) == (12, 0.75, 0.25, 0.5)
    assert found.interval == wilson_interval(9, 12)
    # Σ_{i ≥ 9} C(12, i)·.25^i·.75^(12 − i) = 6570/4^12 …: 220·27 + 66·9 + 12·3 + 1 = 6571
    assert found.p_value == pytest.approx(2 * 6571 / 4**12)


def test_an_even_share_is_no_evidence_and_an_option_that_nobody_takes_is() -> None:
    even = measure_choice_share([(1, 1)] * 5 + [(0, 1)] * 5, options=2)
    never = measure_choice_share([(0, 1)] * 12, options=2)
    always = measure_choice_share([(1, 1)] * 12, options=2)
    assert even is not None
    assert never is not None
    assert always is not None
    assert even.p_value == 1
    assert never.p_value == pytest.approx(2 / 2**12)
    assert always.p_value == pytest.approx(2 / 2**12)
    assert (never.share, always.share) == (0, 1)


def test_trials_of_one_case_are_no_independent_evidence() -> None:
    alike = measure_choice_share([(10, 10), (0, 10), (10, 10), (10, 10)], options=2)
    assert alike is not None
    assert alike.p_value > 0.5  # as four choices, not as forty
    assert alike.interval[0] < 0.35


def test_cases_in_which_no_option_was_chosen_count_nowhere() -> None:
    assert measure_choice_share([(0, 0), (0, 0)], options=3) is None
    assert measure_choice_share([(0, 0), (1, 2)], options=3) == measure_choice_share(
        [(1, 2)], options=3
    )


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "trials", "alike"), [(12, 1, 0.0), (20, 3, 0.6), (40, 2, 0.3)])
@pytest.mark.parametrize("options", [2, 4])
def test_clones_that_do_not_differ_are_told_apart_in_at_most_one_study_of_twenty(
    cases: int, trials: int, alike: float, options: int
) -> None:
    rng, studies, claims = random.Random(3), 4_000, 0
    for _ in range(studies):
        study = []
        for _ in range(cases):
            common = rng.randrange(options) == 0
            chosen = [
                common if rng.random() < alike else rng.randrange(options) == 0
                for _ in range(trials)
            ]
            study.append((sum(chosen), trials))
        found = measure_choice_share(study, options)
        claims += found is not None and found.p_value <= 0.05
    assert wilson_interval(claims, studies)[1] <= 0.05 + 0.01, claims / studies  # type: ignore[index]
