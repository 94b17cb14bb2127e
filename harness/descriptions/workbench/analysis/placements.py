"""Whether the order of the tools matters, computed from counts and first calls alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from harness.base import (
    DRAWS,
    LEVEL,
    MARGIN,
    PairedEffect,
    PairedTest,
    Trials,
    adjust_by_holm,
    average_tests,
    discordance_between,
    excess_discordance,
    group_cases,
    merge_row,
    own_discordance,
    paired_effects,
    paired_test,
    spread_p,
    trend_p,
    trend_slope,
)
from harness.descriptions.workbench.analysis.effects import pair_trials
from harness.descriptions.workbench.measurements import count_by_case
from harness.types import dataclass

_HALF = LEVEL / 2
"""The level is halved, because there are two families of tests: on the ends of the list, and on all
its orders."""
THIRDS = ("first third", "middle", "last third")
"""Parts of the list in which choices are counted."""


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """The first call of one trial, and the position of the wanted tool."""

    key: str
    """Key of the trial, which is counted once."""
    case: str
    """Name of the case."""
    place: float
    """Position of the wanted tool: 0 is first in the list, 1 is last."""
    chosen: bool
    """Whether the wanted tool was called first."""
    order: str = ""
    """The order of the list; trials of one test in one order were asked alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRates:
    """The pass rates under several orders of the same tools."""

    rates: Mapping[str, float]
    """Name of the order → mean pass rate over the cases."""
    cases: int
    """Cases that were judged under every order: the others are left out."""
    p_value: float
    """p-value of the differences between the rates (permutation within cases), after Holm's
    correction together with the trend."""
    between: float
    """How often two trials of a case under two orders end differently."""
    within: float | None
    """How often two trials with the same order end differently, which is chance; ``None`` without
    repeats."""
    test: PairedTest | None
    """Whether `between` exceeds `within`; ``None`` without repeats."""

    @property
    def is_significant(self) -> bool:
        """Whether the orders are shown to differ."""
        return self.p_value < _HALF


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionTrend:
    """How often the wanted tool is chosen, by its position in the list."""

    slope: float
    """Change of its share of first calls from the first position to the last."""
    p_value: float
    """p-value of the trend, after Holm's correction together with the orders."""
    thirds: tuple[Trials, ...]
    """For each of `THIRDS`: (trials that called it first, trials in which it was there)."""

    @property
    def is_significant(self) -> bool:
        """Whether a trend is shown."""
        return self.p_value < _HALF


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementEffects:
    """The effects of order and position."""

    passing: PairedEffect | None
    """Pass rates with the wanted tool last (before) and first (after); ``None`` without a pair."""
    choosing: PairedEffect | None
    """Its share of first calls, last (before) and first (after); ``None`` without a pair."""
    orders: OrderRates | None
    """All orders; ``None`` with fewer than two that were run."""
    trend: PositionTrend | None
    """The trend; ``None`` if no wanted tool ever changed its position."""


def measure_placement(
    orders: Mapping[str, Mapping[str, Trials]],
    first: tuple[Mapping[str, Trials], Sequence[PlacedCall]],
    last: tuple[Mapping[str, Trials], Sequence[PlacedCall]],
    others: Iterable[PlacedCall],
    tests: Mapping[str, str] | None = None,
    *,
    margin: float = MARGIN,
    seed: int = 0,
    draws: int = DRAWS,
) -> PlacementEffects:
    """Return the effects of order and position.

    Args:
        orders: Name of an order → case → trials, for the server's own and shuffled ones.
        first: Trials by case, and first calls, where the wanted tool came first.
        last: The same where it came last.
        others: First calls under ``orders``.
        tests: Case → its test, for the cases of a test that has several; those of a
            test count as one case.
        margin: Margin of equivalence, as a rate.
        seed: Seed of the permutations.
        draws: Number of permutations.
    """
    (passed_first, at_first), (passed_last, at_last) = first, last
    tests = tests or {}
    called_last, called_first = (
        count_by_case((call.case, call.chosen) for call in calls) for calls in (at_last, at_first)
    )
    passing, choosing = paired_effects(
        [
            pair_trials(passed_last, passed_first, tests),
            pair_trials(called_last, called_first, tests),
        ],
        margin=margin,
        level=_HALF,
    )
    # If the wanted tool is at an end of the server's own list, its trials occur twice.
    moved = list({one.key: one for one in (*at_first, *at_last, *others)}.values())
    complete, rows = _complete_cases(orders, tests), _rows_by_test(moved, tests)
    by_order = spread_p(_mean_rates(complete), seed=seed, draws=draws)
    along = trend_p(*rows, seed=seed, draws=draws)
    adjusted = iter(adjust_by_holm([p for p in (by_order, along) if p is not None]))
    return PlacementEffects(
        passing=passing,
        choosing=choosing,
        orders=None if by_order is None else _compare_orders(orders, complete, next(adjusted)),
        trend=None if along is None else _fit_trend(moved, rows, next(adjusted)),
    )


# ── Orders ───────────────────────────────────────────────────────────────────────────────────


def _complete_cases(
    orders: Mapping[str, Mapping[str, Trials]], tests: Mapping[str, str]
) -> list[list[list[Trials]]]:
    """Return the trials under each order of every case that was judged under all, test by test."""
    ran = [trials for trials in orders.values() if trials]
    if len(ran) < 2:  # noqa: PLR2004 - one order cannot differ
        return []
    whole = [case for case in ran[0] if all(case in t for t in ran)]
    return [
        [[trials[case] for trials in ran] for case in cases] for cases in group_cases(whole, tests)
    ]


def _mean_rates(complete: Sequence[Sequence[Sequence[Trials]]]) -> list[list[float]]:
    return [[passed / judged for passed, judged in merge_row(test)] for test in complete]


def _compare_orders(
    orders: Mapping[str, Mapping[str, Trials]],
    complete: Sequence[Sequence[Sequence[Trials]]],
    p_value: float,
) -> OrderRates:
    names = [name for name, trials in orders.items() if trials]
    columns = zip(*_mean_rates(complete), strict=True)
    within = average_tests(complete, own_discordance)
    excess = [fmean(values) for test in complete if (values := excess_discordance(test))]
    return OrderRates(
        rates={name: fmean(column) for name, column in zip(names, columns, strict=True)},
        cases=len(complete),
        p_value=p_value,
        between=fmean(average_tests(complete, discordance_between)),
        within=fmean(within) if within else None,
        test=paired_test(excess, repeated=True),
    )


# ── The trend ────────────────────────────────────────────────────────────────────────────────


def _rows_by_test(
    calls: Sequence[PlacedCall], tests: Mapping[str, str]
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the choices and the positions of the tool, a row for each test.

    The first trials of a test's cases in one order make one value, then their second ones.
    """
    by_case: dict[str, dict[tuple[str, int], PlacedCall]] = {}
    for one in calls:
        row = by_case.setdefault(one.case, {})
        row[one.order, sum(order == one.order for order, _ in row)] = one
    chosen, places = [], []
    for cases in group_cases(by_case, tests):
        keys = dict.fromkeys(key for case in cases for key in by_case[case])
        levels = [[by_case[case][key] for case in cases if key in by_case[case]] for key in keys]
        chosen.append([fmean(one.chosen for one in level) for level in levels])
        places.append([fmean(one.place for one in level) for level in levels])
    return chosen, places


def _fit_trend(
    calls: Sequence[PlacedCall], rows: tuple[list[list[float]], list[list[float]]], p_value: float
) -> PositionTrend:
    slope = trend_slope(*rows)
    assert slope is not None, "it was tested"
    thirds = [(0, 0)] * len(THIRDS)
    for call in calls:
        # The very last position still belongs to the last third.
        third = min(int(call.place * len(THIRDS)), len(THIRDS) - 1)
        chosen, total = thirds[third]
        thirds[third] = chosen + call.chosen, total + 1
    return PositionTrend(slope=slope, p_value=p_value, thirds=tuple(thirds))
