"""Study: does accuracy fall as the list grows? Adds unrelated tools, or only similar ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from harness.base import (
    LEVEL,
    Slope,
    Trials,
    adjust_by_holm,
    compute_mean,
    fit_slope,
    group_cases,
    merge_row,
)
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.reports import format_p, format_percent
from harness.runner import load_built_in_decoys, near_decoys
from harness.types import DecoyKind, Decoys, JsonObject, ToolList, Variant, dataclass

_KINDS: dict[DecoyKind, str] = {"unrelated": "unrelated", "near": "similar"}
"""Kind of decoy → its name in reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _DecoyGrowth:
    """The results with one kind of decoy."""

    kind: DecoyKind
    trials: Mapping[int, Mapping[str, Trials]]
    """Number of added decoys → case → its trials; 0 is the clean list. Identities are one case."""
    taken: Mapping[int, tuple[int, int]]
    """Number of added decoys → (trials that called a decoy first, judged trials)."""
    fitted: Slope | None


def _decoy_variants(bench: StudyContext, kind: DecoyKind) -> Iterator[tuple[int, Variant]]:
    """Yield each number of decoys with its variant; the number is limited by the available ones."""
    pool = near_decoys(ToolList(tools=bench.tools)) if kind == "near" else load_built_in_decoys()
    # Several numbers may come down to the size of the pool.
    for count in sorted({min(count, len(pool)) for count in bench.options.decoys if count > 0}):
        if count:
            decoys = Decoys(count=count, kind=kind, seed=bench.options.seed)
            yield count, Variant(name=f"{count} {_KINDS[kind]} tools more", add=(decoys,))


def _build_arms(bench: StudyContext) -> Sequence[Arm]:
    return [Arm(variant=variant) for kind in _KINDS for _, variant in _decoy_variants(bench, kind)]


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    growths = [_measure_growth(bench, measured, kind) for kind in _KINDS]
    fitted = [(growth, slope) for growth in growths if (slope := growth.fitted) is not None]
    adjusted = adjust_by_holm([slope.test.p_value for _, slope in fitted])
    known = [(growth, slope, p) for (growth, slope), p in zip(fitted, adjusted, strict=True)]
    headline = "; ".join(
        f"{_KINDS[growth.kind]} tools {_describe_trend(slope, p)}" for growth, slope, p in known
    )
    return StudyResult(
        headline=f"With more tools in the list: {headline}." if known else "Nothing was measured.",
        lines=tuple(line for one in known for line in _format_lines(*one)),
        findings=tuple(_build_finding(growth) for growth, _, p in known if p < LEVEL),
        facts={"kinds": [_build_facts(*one) for one in known]},
        notes=tuple(_build_notes(bench, known)),
    )


def _measure_growth(
    bench: StudyContext, measured: ModelMeasurements, kind: DecoyKind
) -> _DecoyGrowth:
    trials = {0: measured.count_trials()}
    taken = {0: (0, len(measured.first_calls()))}
    for count, variant in _decoy_variants(bench, kind):
        if measured.has_trials(variant):
            trials[count] = measured.count_trials(variant)
            first = measured.first_calls(variant)
            taken[count] = sum(call.decoy for call in first), len(first)
    # Every case of any length, so that all rows have the same columns.
    cases = dict.fromkeys(case for trial in trials.values() for case in trial)
    rows = {
        test[0]: merge_row(
            [[trial.get(case, (0, 0)) for trial in trials.values()] for case in test]
        )
        for test in group_cases(cases, measured.tests)
    }
    return _DecoyGrowth(
        kind=kind,
        trials={
            count: {test: row[place] for test, row in rows.items() if row[place][1]}
            for place, count in enumerate(trials)
        },
        taken=taken,
        fitted=fit_slope([dict(zip(trials, row, strict=True)) for row in rows.values()]),
    )


def _describe_trend(fitted: Slope, p_adjusted: float) -> str:
    if p_adjusted >= LEVEL:
        return "show no trend"
    return "make it worse" if fitted.fall > 0 else "make it better"


def _mean_rate(trials: Mapping[str, Trials]) -> float | None:
    return compute_mean([passed / judged for passed, judged in trials.values() if judged])


def _format_lines(growth: _DecoyGrowth, fitted: Slope, p_adjusted: float) -> Iterator[str]:
    low, high = map(_format_signed, fitted.interval)
    yield (
        f"{_KINDS[growth.kind]}: the log-odds fall by {_format_signed(fitted.fall)} with each "
        f"doubling (95 % interval {low} to {high}; {format_p(p_adjusted)}), {fitted.cases} cases"
    )
    for count, trials in growth.trials.items():
        rate, (decoys, all_) = _mean_rate(trials), growth.taken[count]
        if rate is not None:
            taken = f", one of them was called first in {decoys} of {all_} trials" if count else ""
            yield f"  {count} more: {format_percent(rate)}{taken}"


def _format_signed(value: float) -> str:
    # Adding 0 makes a rounded −0.0 a plain 0.
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _build_finding(growth: _DecoyGrowth) -> Finding:
    seen = {count: _mean_rate(trials) or 0.0 for count, trials in growth.trials.items() if trials}
    none, most = seen[min(seen)], max(seen)
    last = seen[most]
    return Finding(
        text=f"With {most} {_KINDS[growth.kind]} tools more in the list, the pass rate goes from "
        f"{format_percent(none)} to {format_percent(last)}.",
        weight=100 * abs(none - last),
    )


def _build_facts(growth: _DecoyGrowth, fitted: Slope, p_adjusted: float) -> JsonObject:
    return {
        "kind": growth.kind,
        "cases": fitted.cases,
        "fall": fitted.fall,
        "interval": list(fitted.interval),
        "test": fitted.test.name,
        "p_value": fitted.test.p_value,
        "p_adjusted": p_adjusted,
        "verdict": _describe_trend(fitted, p_adjusted),
        "lengths": [
            {
                "added": count,
                "pass_rate": _mean_rate(trials),
                "cases": len(trials),
                "decoy_called_first": growth.taken[count][0],
                "trials": growth.taken[count][1],
            }
            for count, trials in growth.trials.items()
        ],
        "curve": [asdict(point) for point in fitted.curve],
    }


def _build_notes(
    bench: StudyContext, known: Sequence[tuple[_DecoyGrowth, Slope, float]]
) -> Iterator[str]:
    most = max(bench.options.decoys, default=0)
    for growth, fitted, _ in known:
        if (tried := max(growth.trials)) < most:
            yield (
                f"There are only {tried} {_KINDS[growth.kind]} tools to add, so a "
                f"list with {most} more was not tried."
            )
        left_out = len(growth.trials[0]) - fitted.cases
        if left_out > 0:
            yield (
                f"{left_out} cases have no verdict with some number of {_KINDS[growth.kind]} "
                "tools; the curve leaves them out."
            )


STUDY = Study(
    name="decoys",
    place=50,
    question="Does accuracy fall as the list grows?",
    arms=_build_arms,
    read=_analyze_results,
)
