"""Study: does the order of the tools matter? Shuffled lists, and the expected tool first or last.

The server's own order is the first; the checks of each test name its expected first call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from harness.base import PairedEffect, Trials
from harness.descriptions.workbench.analysis.effects import format_range
from harness.descriptions.workbench.analysis.placements import (
    THIRDS,
    PlacedCall,
    PlacementEffects,
    measure_placement,
)
from harness.descriptions.workbench.arms import Arm, variant_key
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import (
    Finding,
    Study,
    StudyContext,
    StudyResult,
    tests_by_tool,
)
from harness.judging import wanted_tool
from harness.reports import format_p, format_percent, format_points
from harness.types import Variant, dataclass

SHUFFLES = 4
"""Number of shuffled orders besides the server's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _EndPosition:
    """A list with one tool at its beginning or end, for the tests that expect it."""

    cases: frozenset[str]
    variant: Variant | None
    """``None`` if that is its position in the server's own list."""


def _build_arms(bench: StudyContext) -> Sequence[Arm]:
    if len(bench.tools) < 2:  # noqa: PLR2004 - one tool has one order
        return []
    ends = (*_end_positions(bench, first=True), *_end_positions(bench, first=False))
    return [
        *(Arm(variant=variant) for variant in _build_shuffles(bench)),
        *(Arm(variant=end.variant, cases=end.cases) for end in ends),
    ]


def _build_shuffles(bench: StudyContext) -> list[Variant]:
    # Every seed has numbers of its own, so that another one gives other orders.
    begin = bench.options.seed * SHUFFLES
    return [Variant(name=f"order {number + 1}", order=begin + number) for number in range(SHUFFLES)]


def _end_positions(bench: StudyContext, *, first: bool) -> Iterator[_EndPosition]:
    names = tuple(tool.name for tool in bench.tools)
    for tool, cases in tests_by_tool(bench):
        name = tool.name
        # What an order leaves out comes last.
        order = (name,) if first else tuple(other for other in names if other != name)
        variant = Variant(name=f"{name} {'first' if first else 'last'}", order=order)
        # A tool that is there already needs no run of its own.
        there = names[0 if first else -1] == name
        yield _EndPosition(cases=cases, variant=None if there else variant)


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    if len(bench.tools) < 2:  # noqa: PLR2004 - as above
        return StudyResult(headline="One tool has only one order.")
    shuffles = _build_shuffles(bench)
    found = measure_placement(
        {"own": measured.count_trials()}
        | {shuffle.name: measured.count_trials(shuffle) for shuffle in shuffles},
        _measure_ends(bench, measured, _end_positions(bench, first=True)),
        _measure_ends(bench, measured, _end_positions(bench, first=False)),
        [call for arm in (None, *shuffles) for call in _placed_calls(bench, measured, arm)],
        measured.tests,
        margin=bench.options.margin,
        seed=bench.options.seed,
    )
    return StudyResult(
        headline=_write_headline(bench, found.passing),
        lines=tuple(_format_lines(found)),
        findings=tuple(_build_findings(bench, found)),
        facts=asdict(found),
        notes=tuple(_build_notes(bench, found)),
    )


def _measure_ends(
    bench: StudyContext, measured: ModelMeasurements, ends: Iterable[_EndPosition]
) -> tuple[dict[str, Trials], list[PlacedCall]]:
    trials: dict[str, Trials] = {}
    calls: list[PlacedCall] = []
    for end in ends:
        judged = measured.count_trials(end.variant)
        trials |= {case: judged[case] for case in end.cases if case in judged}
        calls += [
            call for call in _placed_calls(bench, measured, end.variant) if call.case in end.cases
        ]
    return trials, calls


def _placed_calls(
    bench: StudyContext, measured: ModelMeasurements, arm: Variant | None
) -> Iterator[PlacedCall]:
    wanted = {case.name: wanted_tool(case) for case in bench.suite.cases}
    for call in measured.first_calls(arm):
        tool = wanted.get(call.case)
        if tool in call.shown and len(call.shown) > 1:
            place = call.shown.index(tool) / (len(call.shown) - 1)
            yield PlacedCall(call.key, call.case, place, call.tool == tool, variant_key(arm))


def _write_headline(bench: StudyContext, effect: PairedEffect | None) -> str:
    if effect is None:
        return "No test that wants exactly one tool was judged with it first and last."
    needed = effect.cases_to_decide
    verdicts = {
        "better": "first is better",
        "worse": "last is better",
        "equivalent": f"equivalent within {format_points(bench.options.margin, sign=False)} points",
        "undecided": "undecided" + (f"; about {needed:,} tests would decide" if needed else ""),
    }
    return (
        f"The wanted tool first in the list instead of last: {format_points(effect.difference)} "
        f"points of pass rate ({format_range(effect.interval)} over {effect.pairs} tests): "
        f"{verdicts[effect.verdict]}."
    )


def _format_lines(found: PlacementEffects) -> Iterator[str]:
    if one := found.choosing:
        yield (
            f"called first in {format_percent(one.after)} when it is first in the list, in "
            f"{format_percent(one.before)} when it is last: {format_points(one.difference)} points "
            f"({format_range(one.interval)}), {one.verdict}"
        )
    if trend := found.trend:
        shares = ", ".join(
            f"{format_percent(chosen / total)} in the {name}"
            for name, (chosen, total) in zip(THIRDS, trend.thirds, strict=True)
            if total
        )
        yield (
            f"called first by its place: {shares}; {format_points(trend.slope)} points from first "
            f"to last ({format_p(trend.p_value)})"
        )
    if orders := found.orders:
        rates = ", ".join(f"{format_percent(rate)} {name}" for name, rate in orders.rates.items())
        yield f"pass rate by order: {rates} ({orders.cases} tests; {format_p(orders.p_value)})"
        if orders.within is not None:
            yield (
                "two trials in different orders end differently in "
                f"{format_percent(orders.between)}, two in the same order in "
                f"{format_percent(orders.within)}: that is chance"
            )


def _build_findings(bench: StudyContext, found: PlacementEffects) -> Iterator[Finding]:
    one = found.passing
    if one is not None and abs(one.difference) > bench.options.margin:
        where = "first" if one.difference > 0 else "last"
        yield Finding(
            text=f"The place in the list matters: tests pass {format_points(abs(one.difference))} "
            f"points more often with the wanted tool {where}.",
            weight=100 * abs(one.difference),
            certain=one.verdict in {"better", "worse"},
        )
    if found.trend is not None and found.trend.is_significant:
        towards = "front" if found.trend.slope < 0 else "end"
        yield Finding(
            text=f"A tool is called more often the nearer it stands to the {towards} of the list: "
            f"{format_points(abs(found.trend.slope), sign=False)} points from end to end.",
            weight=100 * abs(found.trend.slope),
        )
    if found.orders is not None and found.orders.is_significant:
        low, high = min(found.orders.rates.values()), max(found.orders.rates.values())
        yield Finding(
            text="The order alone moves the pass rate between "
            f"{format_percent(low)} and {format_percent(high)}.",
            weight=100 * (high - low),
        )


def _build_notes(bench: StudyContext, found: PlacementEffects) -> Iterator[str]:
    wanting = sum(len(cases) for _, cases in tests_by_tool(bench))
    if left := len(bench.suite.cases) - wanting:
        yield f"{left} tests want no tool or several first: they are in the orders alone."
    if found.orders is not None and found.orders.within is None:
        yield (
            "With one trial each, how often two orders end differently cannot be told from "
            "chance: give --trials 3."
        )


STUDY = Study(
    name="order",
    place=60,
    question="Does the place in the list matter?",
    arms=_build_arms,
    read=_analyze_results,
)
