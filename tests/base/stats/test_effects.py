"""The effect of a change: intervals always have a width, verdicts do not overclaim."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.stats.effects import (
    Pair,
    difference_interval,
    not_worse,
    paired_effects,
    ratio_interval,
)
from harness.base.stats.intervals import newcombe_interval, newcombe_paired, paired_interval
from harness.base.stats.sequences import adjust_by_holm
from tests.base.stats.simulated import pairs_of_a_study


def pairs(both: int, gained: int, lost: int, neither: int, trials: int = 1) -> list[Pair]:
    """Return cases whose trials all ended alike on a side: passed in both, only after, …"""
    ends = [((1, 1), both), ((0, 1), gained), ((1, 0), lost), ((0, 0), neither)]
    return [
        ((before * trials, trials), (after * trials, trials))
        for (before, after), count in ends
        for _ in range(count)
    ]


def test_one_trial_a_case_is_judged_by_mcnemar_and_newcombe() -> None:
    (effect,) = paired_effects([pairs(20, 12, 2, 16)])
    assert effect is not None
    assert (effect.pairs, effect.before, effect.after) == (50, 0.44, 0.64)
    assert effect.difference == pytest.approx(0.2)
    assert effect.interval == pytest.approx(newcombe_paired(20, 12, 2, 16))
    assert effect.interval_method == "Newcombe, paired"
    assert effect.test.name == "McNemar"
    assert effect.test.p_value == pytest.approx(0.01293945)
    assert effect.verdict == "better"
    assert effect.cases_to_decide is None


def test_several_trials_are_averaged_by_case_before_anything_else() -> None:
    study: list[Pair] = [((3, 3), (1, 3)), ((2, 3), (0, 3)), ((1, 3), (1, 3)), ((3, 3), (3, 3))]
    (effect,) = paired_effects([study])
    assert effect is not None
    assert effect.test.name == "sign-flip"
    assert effect.test.p_value == 0.5  # 2 of the 4 choices of signs of two equal moves
    assert effect.interval == pytest.approx(paired_interval([-2 / 3, -2 / 3, 0, 0]))


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("count", [1, 12, 40])
def test_cases_that_all_stayed_the_same_leave_room_for_a_change(count: int, trials: int) -> None:
    found = difference_interval(pairs(count, 0, 0, 0, trials))
    assert found is not None
    (low, high), _ = found
    # By the rule of three, a change of 3/n may still be hidden.
    assert low <= -min(1, 3 / count) * 0.75
    assert high >= min(1, 3 / count) * 0.75
    assert low == pytest.approx(-high)


def test_cases_that_all_moved_by_a_third_count_as_if_the_sides_were_unrelated() -> None:
    study: list[Pair] = [((2, 3), (3, 3))] * 8
    found = difference_interval(study)
    assert found is not None
    # All 24 trials of the one side, whose cases are all at 2/3, and 8 cases that are all at 1.
    assert found[0] == pytest.approx(newcombe_interval(8, 8, 16, 24))
    assert found[1] == "Newcombe, unpaired"


def test_a_case_that_one_side_has_no_verdict_of_counts_nowhere() -> None:
    (effect,) = paired_effects([[((1, 1), (0, 0)), ((0, 0), (1, 1)), ((1, 1), (1, 1))]])
    assert effect is not None
    assert (effect.pairs, effect.before, effect.after) == (1, 1, 1)
    assert paired_effects([[((1, 1), (0, 0))], []]) == [None, None]
    assert difference_interval([((0, 0), (1, 1))]) is None
    assert not_worse([]) is None


def test_the_effects_that_are_reported_together_share_one_error_by_holm() -> None:
    groups = [pairs(20, 0, 9, 1), pairs(20, 0, 6, 4), pairs(20, 2, 2, 6), []]
    effects = [effect for effect in paired_effects(groups) if effect is not None]
    alone = [effect.test.p_value for effect in effects]
    assert [effect.p_adjusted for effect in effects] == adjust_by_holm(alone)
    assert alone[1] < 0.05 < effects[1].p_adjusted * 1.1  # 0.03125 alone, 0.0625 of three
    assert [effect.verdict for effect in effects] == ["worse", "undecided", "undecided"]


def test_equivalent_is_said_only_within_the_margin_and_undecided_names_the_cases_it_takes() -> None:
    close, open_ = paired_effects([pairs(990, 5, 5, 0), pairs(8, 1, 1, 2)], margin=0.05)
    assert close is not None
    assert open_ is not None
    assert close.verdict == "equivalent"
    assert open_.verdict == "undecided"
    # Spread of the differences with one more pair up and down: 4/14; at 2.5 %, for there are two
    # tests, (2.2414 + 0.8416)²·(4/14)/0.05² = 1086.3.
    assert open_.cases_to_decide == 1087


def test_a_stricter_level_claims_less() -> None:
    study = [pairs(20, 8, 1, 11)]
    ordinary, strict = paired_effects(study)[0], paired_effects(study, level=0.01)[0]
    assert ordinary is not None
    assert strict is not None
    assert (ordinary.verdict, strict.verdict) == ("better", "undecided")


def test_not_worse_is_shown_by_the_one_sided_bound_alone() -> None:
    study = pairs(150, 9, 9, 12)  # no difference, 10 % discordant
    (low, _), _ = difference_interval(study, 0.1) or ((-1, 1), "")
    assert -0.05 < low < 0
    assert not_worse(study, 0.05) is True
    assert not_worse(study, 0.03) is False
    assert not_worse(study, 0.05, alpha=0.001) is False
    assert not_worse(pairs(2, 0, 0, 0), 0.05) is False  # two cases show nothing


@pytest.mark.slow
@pytest.mark.parametrize("cases", [8, 12, 20, 40])
@pytest.mark.parametrize(
    ("difference", "discordance", "trials", "icc"),
    [
        (0.0, 0.05, 1, 0.0),
        (0.0, 0.2, 1, 0.0),
        (0.1, 0.3, 1, 0.0),
        (0.3, 0.4, 1, 0.0),
        (0.0, 0.2, 3, 0.79),
        (0.1, 0.2, 3, 0.79),
        (0.1, 0.3, 3, 0.2),
        (0.3, 0.4, 5, 0.5),
    ],
)
def test_the_interval_holds_the_true_difference_in_at_least_92_of_100_simulated_studies(
    cases: int, difference: float, discordance: float, trials: int, icc: float
) -> None:
    rng, studies, held = random.Random(11), 2_000, 0
    for _ in range(studies):
        study = pairs_of_a_study(rng, cases, difference, discordance, trials, icc)
        found = difference_interval(study)
        assert found is not None
        (low, high), _ = found
        held += low - 1e-12 <= difference <= high + 1e-12
    assert held / studies >= 0.92, held / studies


@pytest.mark.slow
def test_thousands_of_cases_that_all_moved_alike_are_tested_exactly() -> None:
    (effect,) = paired_effects([[((1, 3), (2, 3))] * 3_000])
    assert effect is not None
    assert (effect.test.name, effect.verdict) == ("sign-flip", "better")
    assert effect.test.p_value < 1e-300


def _side(draw: st.DrawFn, most: int) -> tuple[int, int]:
    trials = draw(st.integers(0, most))
    return draw(st.integers(0, trials)), trials


@st.composite
def studies(draw: st.DrawFn) -> list[Pair]:
    most = draw(st.sampled_from((1, 1, 3)))
    return [(_side(draw, most), _side(draw, most)) for _ in range(draw(st.integers(0, 9)))]


MARGINS = st.sampled_from((0.01, 0.05, 0.2, 0.5, 0.9))


@given(studies(), MARGINS, st.sampled_from((0.05, 0.2)))
def test_the_parts_of_an_effect_belong_together(
    study: list[Pair], margin: float, level: float
) -> None:
    (effect,) = paired_effects([study], margin=margin, level=level)
    kept = [pair for pair in study if pair[0][1] > 0 and pair[1][1] > 0]
    assert (effect is None) is (not kept)
    if effect is None:
        assert difference_interval(study) is None
        assert not_worse(study) is None
        return
    sides = [[passed / of for passed, of in side] for side in zip(*kept, strict=True)]
    before, after = (sum(rates) / len(rates) for rates in sides)
    assert effect.pairs == len(kept)
    assert (effect.before, effect.after) == pytest.approx((before, after))
    assert effect.difference == pytest.approx(after - before)
    assert (effect.interval, effect.interval_method) == difference_interval(study)
    low, high = effect.interval
    assert -1 <= low <= effect.difference + 1e-9
    assert effect.difference - 1e-9 <= high <= 1
    within = -margin < low and high < margin
    if effect.p_adjusted < level:
        assert effect.verdict == ("better" if after > before else "worse")
    else:
        assert effect.verdict == ("equivalent" if within else "undecided")
    assert (effect.cases_to_decide is None) is (effect.verdict != "undecided")
    assert effect.cases_to_decide is None or effect.cases_to_decide > len(kept)


@given(studies(), MARGINS)
def test_what_is_said_of_a_change_is_said_the_other_way_round_of_its_undoing(
    study: list[Pair], margin: float
) -> None:
    (there,) = paired_effects([study], margin=margin)
    (back,) = paired_effects([[(after, before) for before, after in study]], margin=margin)
    if there is None or back is None:
        assert there is back
        return
    assert back.interval == pytest.approx((-there.interval[1], -there.interval[0]))
    assert back.test.p_value == pytest.approx(there.test.p_value)
    assert back.smallest == pytest.approx(there.smallest)
    # Sums in another order differ in the last digit, and with it where a size is rounded up.
    assert back.cases_to_decide == pytest.approx(there.cases_to_decide, abs=1)
    undone = {"better": "worse", "worse": "better"}
    assert back.verdict == undone.get(there.verdict, there.verdict)


@given(studies(), st.integers(1, 4))
def test_of_equal_effects_each_bears_the_errors_of_all(study: list[Pair], times: int) -> None:
    found = paired_effects([[], *[study] * times])
    assert found[0] is None
    (alone,) = paired_effects([study])
    for effect in found[1:]:
        assert (effect is None) is (alone is None)
        if effect is not None and alone is not None:
            assert effect.p_adjusted == pytest.approx(min(1, times * alone.test.p_value))
            assert effect.interval == alone.interval


@pytest.mark.parametrize("study", [pairs(30, 2, 3, 5), pairs(9, 0, 0, 0, 3), pairs(20, 0, 0, 4)])
def test_an_interval_that_touches_the_margin_shows_nothing(study: list[Pair]) -> None:
    found = difference_interval(study)
    assert found is not None
    low, high = found[0]
    widest = max(-low, high)
    for margin, verdict in ((widest, "undecided"), (widest * 1.000001, "equivalent")):
        (effect,) = paired_effects([study], margin=margin)
        assert effect is not None
        assert effect.verdict == verdict
    one_sided = difference_interval(study, 0.1)
    assert one_sided is not None
    bound = -one_sided[0][0]
    assert [not_worse(study, margin) for margin in (bound, bound * 1.000001)] == [False, True]


def test_a_verdict_at_exactly_the_level_is_none() -> None:
    study = pairs(0, 5, 0, 0)  # by McNemar, five that moved alike have p = 1/16
    for level, verdict in ((0.0625, "undecided"), (0.0626, "better")):
        (effect,) = paired_effects([study], level=level)
        assert effect is not None
        assert effect.p_adjusted == 0.0625
        assert effect.verdict == verdict


def test_the_interval_of_a_ratio_has_a_width_and_its_ends_by_hand() -> None:
    # One case that was lost: Wilson's ends are 0.2065 to 1 before and 0 to 0.7935 after, and the
    # upper end is 0.7935 / sqrt(0.2065 * (2 - 0.2065)).
    lost = ratio_interval(pairs(0, 0, 1, 0))
    assert lost is not None
    assert lost == pytest.approx((0.0, 1.30366), abs=1e-5)
    found = ratio_interval(pairs(20, 0, 0, 0))
    assert found is not None
    assert found[0] < 1 < found[1]
    assert ratio_interval(pairs(0, 3, 0, 2)) is None  # nothing passed before
    assert ratio_interval([]) is None


@pytest.mark.parametrize(("before", "after"), [(0.9, 0.5), (1.0, 0.8), (0.6, 0.55), (0.9, 0.9)])
def test_the_interval_of_a_ratio_holds_the_true_one_as_often_as_it_says(
    before: float, after: float
) -> None:
    draw = random.Random(5)
    held = made = 0
    for _ in range(400):
        study = []
        for _ in range(30):
            first = draw.random()
            second = first if draw.random() < 0.6 else draw.random()
            study.append(((float(first < before), 1), (float(second < after), 1)))
        found = ratio_interval(study)
        assert found is not None
        made += 1
        held += found[0] <= after / before <= found[1]
    assert held / made >= 0.92
