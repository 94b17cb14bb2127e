"""Properties of statistics for all values; undefined ones stay ``None``."""

from itertools import product
from math import nextafter, sqrt
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.base.stats import paired_tests
from harness.base.stats.intervals import (
    compute_mean,
    effective_trials,
    incomplete_beta,
    newcombe_interval,
    newcombe_paired,
    paired_interval,
    pass_at_k,
    pass_hat_k,
    rate_interval,
    standard_error,
    t_quantile,
    t_tail,
    wilson_interval,
)
from harness.base.stats.paired_tests import compute_mcnemar_p, paired_t, paired_test, sign_flip
from harness.base.stats.power import cases_needed, smallest_difference
from harness.base.stats.sequences import adjust_by_holm, benjamini_hochberg

P_VALUES = st.lists(st.floats(0, 1), max_size=12)
TABLES = st.tuples(*[st.integers(0, 30)] * 4)


@st.composite
def tallies(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Cases with their trials and passes."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=12))
    return [(n, draw(st.integers(0, n))) for n in sizes]


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_rate_and_stays_within_0_and_1(tally: tuple[int, int]) -> None:
    passed, total = tally
    low, high = wilson_interval(passed, total) or (1, 0)
    assert 0 <= low <= passed / total <= high <= 1
    assert high - low > 0


def test_of_nothing_there_is_no_figure() -> None:
    assert wilson_interval(0, 0) is None
    assert newcombe_interval(0, 0, 1, 2) is None
    assert newcombe_paired(0, 0, 0, 0) is None
    assert compute_mean([]) is None
    assert rate_interval([], 0) is None
    assert effective_trials([], 0) is None
    assert paired_test([], repeated=True) is None


@pytest.mark.parametrize("values", [[], [0.5]])
def test_the_error_of_fewer_than_two_values_is_unknown_and_not_zero(values: list[float]) -> None:
    assert standard_error(values) is None
    assert paired_interval(values) is None
    assert paired_t(values) is None


def test_equal_differences_have_no_spread_to_test_by() -> None:
    assert paired_interval([0.5] * 9) is None
    assert paired_t([0.5] * 9) is None


@given(tallies())
def test_repeats_are_worth_at_least_nothing_and_at_most_their_number(
    cases: list[tuple[int, int]],
) -> None:
    rates, rows = [c / n for n, c in cases], sum(n for n, _ in cases)
    size = effective_trials(rates, rows)
    assert size is not None
    assert 0 < size <= rows
    low, high = rate_interval(rates, rows) or (1, 0)
    assert 0 <= low <= sum(rates) / len(rates) + 1e-12
    assert high <= 1
    assert low < high


def test_cases_that_always_end_alike_are_worth_one_trial_each() -> None:
    assert rate_interval([1.0] * 5, 50) == wilson_interval(5, 5)
    assert rate_interval([0.7], 10) == wilson_interval(0.7, 1)


def test_with_one_trial_a_case_the_interval_is_wilsons() -> None:
    assert rate_interval([1.0, 0.0, 1.0], 3) == wilson_interval(2, 3)


@given(st.integers(1, 12), st.data())
def test_pass_hat_k_falls_and_pass_at_k_rises_with_k(n: int, data: st.DataObject) -> None:
    c = data.draw(st.integers(0, n))
    hats = [pass_hat_k(n, c, k) or 0.0 for k in range(1, n + 1)]
    ats = [pass_at_k(n, c, k) or 0.0 for k in range(1, n + 1)]
    assert hats == sorted(hats, reverse=True)
    assert ats == sorted(ats)
    assert hats[0] == pytest.approx(ats[0]) == pytest.approx(c / n)


@given(st.integers(0, 9), st.integers(1, 9))
def test_k_is_never_silently_made_smaller(n: int, more: int) -> None:
    assert pass_at_k(n, n, n + more) is None
    assert pass_hat_k(n, n, n + more) is None


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_takes_no_side(b: int, c: int) -> None:
    assert compute_mcnemar_p(b, c) == compute_mcnemar_p(c, b)
    assert 0 < compute_mcnemar_p(b, c) <= 1


@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 5))
def test_of_single_trials_sign_flip_and_mcnemar_are_one_test(b: int, c: int, same: int) -> None:
    assert sign_flip([-1.0] * b + [1.0] * c + [0.0] * same) == pytest.approx(
        compute_mcnemar_p(b, c)
    )


@given(st.lists(st.integers(-10, 10), max_size=9))
def test_sign_flip_is_what_flipping_every_sign_gives(steps: list[int]) -> None:
    observed = abs(sum(steps))
    flipped = [sum(sign * step for sign, step in zip(signs, steps, strict=True))
               for signs in product((1, -1), repeat=len(steps))]  # fmt: skip
    expected = sum(abs(total) >= observed for total in flipped) / len(flipped)
    assert sign_flip([step / 10 for step in steps]) == pytest.approx(expected)


def test_twenty_arbitrary_differences_are_still_tested_exactly() -> None:
    random = Random(7)
    differences = [random.uniform(-1, 1) for _ in range(20)]
    test = paired_test(differences, repeated=True)
    assert test is not None
    assert test.name == "sign-flip"
    assert test.p_value == pytest.approx(paired_t(differences), abs=0.03)


def test_hundreds_of_pairs_of_few_trials_are_tested_exactly() -> None:
    random = Random(7)
    test = paired_test([random.randint(-3, 3) / 3 for _ in range(300)], repeated=True)
    assert test is not None
    assert test.name == "sign-flip"


def test_what_is_too_much_to_count_falls_back_on_t_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paired_tests, "_MOST_STEPS", 10_000)
    random = Random(7)
    differences = [random.uniform(-1, 1) for _ in range(40)]
    assert sign_flip(differences) is None
    test = paired_test(differences, repeated=True)
    assert test is not None
    assert (test.name, test.p_value) == ("paired t", paired_t(differences))


@given(TABLES.filter(any))
def test_a_paired_interval_turns_round_with_its_sides(table: tuple[int, int, int, int]) -> None:
    both, first, second, neither = table
    low, high = newcombe_paired(both, first, second, neither) or (1, -1)
    turned = newcombe_paired(both, second, first, neither) or (1, -1)
    assert (-turned[1], -turned[0]) == pytest.approx((low, high))
    assert -1 <= low <= (first - second) / sum(table) <= high <= 1


@given(P_VALUES)
def test_a_correction_never_makes_evidence_stronger_and_keeps_its_order(
    values: list[float],
) -> None:
    for correct in (adjust_by_holm, benjamini_hochberg):
        adjusted = correct(values)
        assert all(raw <= new <= 1 for raw, new in zip(values, adjusted, strict=True))
        ranked = sorted(range(len(values)), key=lambda i: values[i])
        assert [adjusted[i] for i in ranked] == sorted(adjusted)
    assert all(
        a >= b - 1e-12
        for a, b in zip(adjust_by_holm(values), benjamini_hochberg(values), strict=True)
    )


@given(st.floats(0.001, 0.999), st.floats(1, 500))
@example(0.5003416667349568, 46.0)  # near the median the tail is found by what is left of 1
def test_a_quantile_of_t_has_its_probability(probability: float, df: float) -> None:
    t = t_quantile(probability, df)
    below = t_tail(t, df) / 2 if t < 0 else 1 - t_tail(t, df) / 2
    assert below == pytest.approx(probability, abs=1e-12)


@pytest.mark.parametrize(("t", "df"), [(1.0, 1), (1.0, 3), (2.0, 2), (4.0, 5)])
def test_a_quantile_is_the_smallest_number_with_its_probability(t: float, df: int) -> None:
    """Also where the search begins: at 1, 2, 4, which its bounds meet exactly."""
    tail = t_tail(t, df)
    found = t_quantile(1 - tail / 2, df)
    assert t_tail(found, df) <= 2 * (1 - (1 - tail / 2)) < t_tail(nextafter(found, 0), df)


@given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0, 1))
def test_the_incomplete_beta_function_is_symmetric(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(1 - incomplete_beta(b, a, 1 - x), abs=1e-10)


def test_with_two_degrees_of_freedom_t_has_a_closed_form() -> None:
    assert t_tail(2.0, 2) == pytest.approx(1 - 2 / sqrt(6), rel=1e-13)


def test_more_trials_need_fewer_cases() -> None:
    once = cases_needed(0.05, between=0.05, within=0.1, other_within=0.1)
    thrice = cases_needed(
        0.05, between=0.05, within=0.1, other_within=0.1, trials=3, other_trials=3
    )
    assert thrice < once


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=60))
def test_nobody_is_promised_what_the_exact_test_cannot_show(differences: list[float]) -> None:
    smallest = smallest_difference(differences)
    if len(differences) < 6:
        assert smallest is None
    if smallest is not None:
        moved = round(smallest * len(differences))
        assert compute_mcnemar_p(0, moved) <= 0.05


def test_equal_cases_are_no_proof_that_any_difference_would_be_seen() -> None:
    smallest = smallest_difference([0.0] * 20)
    assert smallest == pytest.approx(6 / 20)


def test_equal_cases_of_several_trials_leave_room_for_chance_too() -> None:
    # (1.960 + 0.842)·√((1/10 + 1/10)/102/100), well above what the exact test needs at least:
    # 6/100/10.
    assert smallest_difference([0.0] * 100, trials=10, other_trials=10) == pytest.approx(
        0.0124056, abs=5e-8
    )
