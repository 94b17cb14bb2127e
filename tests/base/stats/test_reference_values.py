"""Reference values, computed with scipy and statsmodels or exactly, to the digits given."""

import pytest

from harness.base.stats.intervals import (
    compute_mean,
    effective_trials,
    newcombe_interval,
    newcombe_paired,
    paired_interval,
    pass_at_k,
    pass_hat_k,
    rate_interval,
    standard_error,
    t_quantile,
    wilson_interval,
)
from harness.base.stats.paired_tests import (
    PairedTest,
    compute_mcnemar_p,
    paired_t,
    paired_test,
    sign_flip,
)
from harness.base.stats.power import cases_needed, smallest_difference
from harness.base.stats.sequences import adjust_by_holm, benjamini_hochberg

TEN_DIGITS = 5.1e-11


def exactly(value: object) -> object:
    return pytest.approx(value, rel=1e-14, abs=0)


def to_ten_digits(value: object) -> object:
    return pytest.approx(value, abs=TEN_DIGITS, rel=0)


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [
        (0, 1, 0, 0.7934506856),
        (1, 1, 0.2065493144, 1),
        (0, 10, 0, 0.2775327999),
        (10, 10, 0.7224672001, 1),
        (5, 10, 0.2365930905, 0.7634069095),
        (9, 10, 0.5958499732, 0.9821237869),
        (8, 10, 0.4901624715, 0.9433178485),
        (3, 3, 0.4385029682, 1),
        (45, 50, 0.7863976856, 0.9565242351),
        (81, 100, 0.7222115462, 0.8748524849),
        (137, 164, 0.7710631896, 0.8843171960),
        (299, 300, 0.9813633063, 0.9994113423),
    ],
)
def test_the_interval_of_a_rate_is_wilsons(
    passed: int, total: int, low: float, high: float
) -> None:
    assert wilson_interval(passed, total) == to_ten_digits((low, high))


def test_the_bounds_at_none_and_all_are_exact() -> None:
    assert (wilson_interval(0, 10) or (1, 1))[0] == 0
    assert (wilson_interval(10, 10) or (0, 0))[1] == 1


@pytest.mark.parametrize(
    ("n", "c", "k", "at", "hat"),
    [
        (5, 3, 2, 0.9, 0.3),
        (5, 3, 3, 1, 0.1),
        (4, 2, 2, 0.8333333333, 0.1666666667),
        (8, 6, 4, 1, 0.2142857143),
        (10, 7, 5, 1, 0.0833333333),
    ],
)
def test_pass_at_k_and_pass_hat_k_are_those_of_the_papers(
    n: int, c: int, k: int, at: float, hat: float
) -> None:
    assert pass_at_k(n, c, k) == to_ten_digits(at)
    assert pass_hat_k(n, c, k) == to_ten_digits(hat)


@pytest.mark.parametrize(
    ("k", "value", "error"),
    [
        (1, 0.68, 0.1854723699),
        (2, 0.58, 0.1959591794),
        (3, 0.50, 0.2144761059),
        (4, 0.44, 0.2315167381),
        (5, 0.40, 0.2449489743),
    ],
)
def test_pass_hat_k_of_several_cases_is_their_mean_with_an_error_over_cases(
    k: int, value: float, error: float
) -> None:
    values = [hat for c in (5, 3, 0, 4, 5) if (hat := pass_hat_k(5, c, k)) is not None]
    assert compute_mean(values) == to_ten_digits(value)
    assert standard_error(values) == to_ten_digits(error)


REPEATS = [3 / 3, 2 / 3, 0 / 3, 2 / 3, 3 / 3, 1 / 3]


def test_repeats_are_averaged_per_case_first() -> None:
    assert compute_mean(REPEATS) == pytest.approx(0.6111111, abs=5.1e-8)
    assert standard_error(REPEATS) == to_ten_digits(0.1590869007)
    assert effective_trials(REPEATS, 18) == pytest.approx(9.390243902, abs=5.1e-10)
    assert rate_interval(REPEATS, 18) == to_ten_digits((0.3142081455, 0.8434980025))


def test_the_standard_error_is_over_the_values_given() -> None:
    assert standard_error([1] * 7 + [0] * 3) == exactly(0.15275252316519464)
    graded = [0.2, 0.5, 0.9, 1, 0.4]
    assert compute_mean(graded) == exactly(0.6)
    assert standard_error(graded) == exactly(0.151657508881031)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        (3, 1, 0.625),
        (5, 15, 0.04138946533203125),
        (1, 5, 0.21875),
        (0, 5, 0.0625),
        (0, 6, 0.03125),
        (8, 2, 0.109375),
        (10, 10, 1),
        (0, 0, 1),
    ],
)
def test_mcnemar_is_exact(b: int, c: int, p: float) -> None:
    assert compute_mcnemar_p(b, c) == p


DIFFERENCES = [0.2, 0, 0.5, -0.1, 0.3, 0.4, -0.2, 0.1]


def test_sign_flip_counts_all_choices_of_signs() -> None:
    assert sign_flip(DIFFERENCES) == 44 / 256 == 0.171875


def test_paired_t_is_students() -> None:
    assert paired_t(DIFFERENCES) == exactly(0.12687036692367099)


@pytest.mark.parametrize(
    ("differences", "low", "high"),
    [
        # 0.15 ± 2.364624·√0.06/√8
        (DIFFERENCES, -0.0547824672, 0.3547824672),
        # 1/3 ± 4.302653·√(1/3)/√3, of which the upper end is beyond any difference of rates
        ([0, 0, 1], -1, 1),
        # 0.05 ± 2.776445·√0.0125/√5, and the same turned round
        ([0.05, 0.2, -0.1, 0.1, 0.0], -0.0888222553, 0.1888222553),
        ([-0.05, -0.2, 0.1, -0.1, 0.0], -0.1888222553, 0.0888222553),
        ([0.9, 1.0, 0.8, 1.0], 0.7726519819, 1),
        ([-0.9, -1.0, -0.8, -1.0], -1, -0.7726519819),
    ],
)
def test_the_interval_of_paired_differences_is_students(
    differences: list[float], low: float, high: float
) -> None:
    assert paired_interval(differences) == to_ten_digits((low, high))


@pytest.mark.parametrize(
    ("trials", "other_trials", "smallest"),
    # (1.959964 + 0.841621)·√((Σd² + 1/K + 1/K')/10 − (Σd/10)²)/8), where Σd² = 0.6 and Σd = 1.2
    [(4, 2, 0.3439794500), (10, 10, 0.2536943315), (2, 8, 0.3256654532)],
)
def test_the_smallest_difference_that_some_cases_can_show(
    trials: float, other_trials: float, smallest: float
) -> None:
    assert smallest_difference(
        DIFFERENCES, trials=trials, other_trials=other_trials
    ) == to_ten_digits(smallest)


@pytest.mark.parametrize(
    ("cases", "alpha", "smallest"),
    # The sign test needs n cases that all move the same way, 2/2ⁿ ≤ α: six at 0.05, eight at 0.01,
    # two at 0.5.
    [
        (5, 0.05, None),
        (6, 0.05, 1.0),
        (7, 0.01, None),
        (8, 0.01, 1.0),
        (1, 0.5, None),
        (2, 0.5, 1.0),
    ],
)
def test_fewer_cases_than_the_exact_test_needs_show_nothing(
    cases: int, alpha: float, smallest: float | None
) -> None:
    assert smallest_difference([0.0] * cases, trials=1, other_trials=1, alpha=alpha) == smallest


@pytest.mark.parametrize(
    ("df", "t"),
    [
        (1, 12.706204736174694),
        (2, 4.302652729749462),
        (4, 2.7764451051977934),
        (9, 2.262157162798205),
        (29, 2.045229642132703),
    ],
)
def test_quantiles_of_t_are_right_to_the_last_digits(df: int, t: float) -> None:
    assert t_quantile(0.975, df) == exactly(t)
    assert t_quantile(0.025, df) == exactly(-t)


P_VALUES = [0.001, 0.008, 0.039, 0.041, 0.042, 0.060, 0.074, 0.205, 0.212, 0.216]


def test_holm_adjusts_for_gates() -> None:
    assert adjust_by_holm(P_VALUES) == exactly([0.01, 0.072, *[0.312] * 5, *[0.615] * 3])


def test_benjamini_and_hochberg_adjust_for_dashboards() -> None:
    expected = [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.1057142857, 0.216, 0.216, 0.216]
    assert benjamini_hochberg(P_VALUES) == to_ten_digits(expected)


@pytest.mark.parametrize(
    ("first", "second", "difference", "low", "high"),
    [
        ((56, 70), (48, 80), 0.2, 0.0524314724, 0.3338726540),
        ((9, 10), (3, 10), 0.6, 0.1705227239, 0.8090179735),
    ],
)
def test_the_difference_of_unrelated_rates_is_newcombes(
    first: tuple[int, int], second: tuple[int, int], difference: float, low: float, high: float
) -> None:
    assert first[0] / first[1] - second[0] / second[1] == pytest.approx(difference)
    assert newcombe_interval(*first, *second) == to_ten_digits((low, high))


def test_the_difference_of_paired_rates_is_newcombes_published_example() -> None:
    assert newcombe_paired(20, 12, 2, 16) == pytest.approx((0.0562, 0.3292), abs=5e-5)


def test_the_cases_that_a_difference_needs() -> None:
    assert cases_needed(0.03, between=1 / 9) == 969


def test_of_two_values_there_is_a_standard_error_and_of_one_there_is_none() -> None:
    assert standard_error([0, 1]) == exactly(0.5)
    assert standard_error([1]) is None


@pytest.mark.parametrize(
    ("more", "cases"),
    # (1.959964 + 0.841621)² = 7.848879; times (0.1 + 0.2/K + 0.2/K')/0.1²
    [
        ({}, 79),
        ({"within": 0.2}, 236),
        ({"other_within": 0.2}, 236),
        ({"within": 0.2, "other_within": 0.2}, 393),
        ({"within": 0.2, "trials": 2}, 157),
        ({"other_within": 0.2, "other_trials": 4}, 118),
    ],
)
def test_trials_of_a_case_add_to_the_cases_that_a_difference_needs(
    more: dict[str, float], cases: int
) -> None:
    assert cases_needed(0.1, between=0.1, **more) == cases  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("both", "first_only", "second_only", "neither"), [(5, 5, 0, 0), (5, 0, 5, 0), (0, 5, 0, 5)]
)
def test_where_one_rate_is_all_or_none_pairs_tell_nothing(
    both: int, first_only: int, second_only: int, neither: int
) -> None:
    total = both + first_only + second_only + neither
    unrelated = newcombe_interval(both + first_only, total, both + second_only, total)
    assert newcombe_paired(both, first_only, second_only, neither) == unrelated


def test_a_single_pair_that_agrees_both_ways_explains_nothing_after_continuity_correction() -> None:
    assert newcombe_paired(1, 0, 0, 1) == newcombe_interval(1, 2, 1, 2)
    assert newcombe_paired(0, 0, 0, 0) is None


@pytest.mark.parametrize("rates", [[0.0, 0.0], [1.0, 1.0], [0.5]])
def test_the_spread_of_rates_that_do_not_vary_is_worth_the_cases(rates: list[float]) -> None:
    assert effective_trials(rates, 6) == len(rates)
    assert effective_trials([], 6) is None


def test_a_difference_of_more_than_every_case_is_none_that_could_show() -> None:
    assert smallest_difference([1, -1] * 3, trials=1, other_trials=1, alpha=0.05) is None


def test_at_a_level_that_everything_reaches_one_case_is_enough() -> None:
    assert smallest_difference([0.0], trials=9, other_trials=9, alpha=1.0) is not None


def test_pairs_are_tested_by_what_suits_them() -> None:
    once = [1.0, -1.0, 0.0, 1.0, 1.0, 0.0]
    assert paired_test(once, repeated=False) == PairedTest("McNemar", compute_mcnemar_p(1, 3))
    assert paired_test([1.0, 1.0, 1.0, 0.0], repeated=False) == PairedTest("McNemar", 0.25)
    exact = sign_flip([0.5, 0.25])
    assert exact is not None
    assert paired_test([0.5, 0.25], repeated=True) == PairedTest("sign-flip", exact)
    assert paired_test([], repeated=True) is None


def test_differences_of_two_values_have_a_spread_and_equal_ones_have_none() -> None:
    assert paired_t([0.5, 0.5, 0.5]) is None
    assert paired_t([0.5]) is None
    assert paired_t([0.0, 1.0]) == pytest.approx(0.5)


@pytest.mark.slow
def test_an_exact_test_counts_a_million_steps_and_no_more() -> None:
    fits = [float(2**power) for power in range(21)]
    assert sign_flip(fits) == 2 / 2**21
    too_many = paired_test([*fits, float(2**21)], repeated=True)
    assert too_many is not None
    assert too_many.name == "paired t"
    assert too_many.p_value == paired_t([*fits, float(2**21)])


@pytest.mark.slow
def test_equal_steps_are_counted_up_to_the_same_bound() -> None:
    """Two more than 2,046 equal steps are above a million, which is known without counting."""
    assert sign_flip([0.5, -0.5] * 1_023) == 1.0
    assert sign_flip([0.5, -0.5] * 1_024) is None


def test_a_rate_stands_for_the_fraction_that_was_meant_of_up_to_a_million() -> None:
    assert sign_flip([2 / 3, -1 / 3, -1 / 3]) == 1.0
    assert sign_flip([1 / 61, 1 / 67, -(1 / 61 + 1 / 67)]) == 1.0
    one, other = 1 / 1_000_003, 1 / 1_000_000
    assert sign_flip([one, one, -other, -other]) == 1.0


def test_trials_count_one_a_case_unless_said_otherwise() -> None:
    moved = [0.0, 1.0, -1.0, 0.0] * 20
    assert smallest_difference(moved) == smallest_difference(moved, trials=1, other_trials=1)
    assert smallest_difference(moved) != smallest_difference(moved, trials=2)
    assert smallest_difference(moved) != smallest_difference(moved, other_trials=2)
