"""Study: does accuracy fall as the list grows? Adds unrelated tools, or only similar ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base import LEVEL, Slope, Trials, cases_of_tests, holm, mean, row_as_one, slope
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.study import Bench, Finding, Study, StudyResult
from harness.reports import p_value, percent
from harness.runner import built_in_decoys, near_decoys
from harness.types import DecoyKind, Decoys, JsonObject, ToolList, Variant

_KINDS: dict[DecoyKind, str] = {"unrelated": "unrelated", "near": "similar"}
"""Kind of decoy → its name in reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Growth:
    """The results with one kind of decoy."""

    kind: DecoyKind
    trials: Mapping[int, Mapping[str, Trials]]
    """Number of added decoys → case → its trials; 0 is the clean list. Identities are one case."""
    taken: Mapping[int, tuple[int, int]]
    """Number of added decoys → (trials that called a decoy first, judged trials)."""
    fitted: Slope | None


def _lengths(bench: Bench, kind: DecoyKind) -> Iterator[tuple[int, Variant]]:
    """Yield each number of decoys with its variant; the number is limited by the available ones."""
    pool = near_decoys(ToolList(tools=bench.tools)) if kind == "near" else built_in_decoys()
    for count in sorted({min(count, len(pool)) for count in bench.options.decoys if count > 0}):
        if count:
            decoys = Decoys(count=count, kind=kind, seed=bench.options.seed)
            yield count, Variant(name=f"{count} {_KINDS[kind]} tools more", add=(decoys,))


def _arms(bench: Bench) -> Sequence[Arm]:
    return [Arm(variant=variant) for kind in _KINDS for _, variant in _lengths(bench, kind)]


def _read(bench: Bench, measured: Measured) -> StudyResult:
    growths = [_growth(bench, measured, kind) for kind in _KINDS]
    known = [(growth, growth.fitted) for growth in growths if growth.fitted is not None]
    adjusted = holm([fitted.test.p_value for _, fitted in known])
    findings = [
        _finding(growth) for (growth, fitted), p in zip(known, adjusted, strict=True) if p < LEVEL
    ]
    lines = [
        line
        for (growth, fitted), p in zip(known, adjusted, strict=True)
        for line in _lines(growth, fitted, p)
    ]
    headline = "; ".join(
        f"{_KINDS[growth.kind]} tools {_word(fitted, p)}"
        for (growth, fitted), p in zip(known, adjusted, strict=True)
    )
    return StudyResult(
        study=STUDY.name,
        headline=f"With more tools in the list: {headline}." if known else "Nothing was measured.",
        lines=tuple(lines),
        findings=tuple(findings),
        facts={
            "kinds": [
                _facts(growth, fitted, p)
                for (growth, fitted), p in zip(known, adjusted, strict=True)
            ]
        },
        notes=tuple(_notes(bench, known)),
    )


def _growth(bench: Bench, measured: Measured, kind: DecoyKind) -> _Growth:
    trials = {0: measured.trials()}
    taken = {0: (0, len(measured.first_calls()))}
    for count, variant in _lengths(bench, kind):
        if measured.has(variant):
            trials[count] = measured.trials(variant)
            first = measured.first_calls(variant)
            taken[count] = sum(call.decoy for call in first), len(first)
    cases = dict.fromkeys(case for one in trials.values() for case in one)
    rows = {
        test[0]: row_as_one([[one.get(case, (0, 0)) for one in trials.values()] for case in test])
        for test in cases_of_tests(cases, measured.tests)
    }
    return _Growth(
        kind=kind,
        trials={
            count: {test: row[place] for test, row in rows.items() if row[place][1]}
            for place, count in enumerate(trials)
        },
        taken=taken,
        fitted=slope([dict(zip(trials, row, strict=True)) for row in rows.values()]),
    )


def _word(fitted: Slope, p_adjusted: float) -> str:
    if p_adjusted >= LEVEL:
        return "show no trend"
    return "make it worse" if fitted.fall > 0 else "make it better"


def _rate(trials: Mapping[str, Trials]) -> float | None:
    return mean([passed / judged for passed, judged in trials.values() if judged])


def _lines(growth: _Growth, fitted: Slope, p_adjusted: float) -> Iterator[str]:
    low, high = fitted.interval
    yield (
        f"{_KINDS[growth.kind]}: the log-odds fall by {_signed(fitted.fall)} with each doubling "
        f"(95 % interval {_signed(low)} to {_signed(high)}; p = {p_value(p_adjusted)}), "
        f"{fitted.cases} cases"
    )
    for count, trials in growth.trials.items():
        rate, (decoys, all_) = _rate(trials), growth.taken[count]
        if rate is not None:
            taken = f", one of them was called first in {decoys} of {all_} trials" if count else ""
            yield f"  {count} more: {percent(rate)}{taken}"


def _signed(value: float) -> str:
    # Adding 0 makes a rounded −0.0 a plain 0.
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _finding(growth: _Growth) -> Finding:
    seen = {count: _rate(trials) or 0.0 for count, trials in growth.trials.items() if trials}
    none, most = seen[min(seen)], max(seen)
    last = seen[most]
    return Finding(
        text=f"With {most} {_KINDS[growth.kind]} tools more in the list, the pass rate goes from "
        f"{percent(none)} to {percent(last)}.",
        weight=100 * abs(none - last),
    )


def _facts(growth: _Growth, fitted: Slope, p_adjusted: float) -> JsonObject:
    return {
        "kind": growth.kind,
        "cases": fitted.cases,
        "fall": fitted.fall,
        "interval": list(fitted.interval),
        "test": fitted.test.name,
        "p_value": fitted.test.p_value,
        "p_adjusted": p_adjusted,
        "verdict": _word(fitted, p_adjusted),
        "lengths": [
            {
                "added": count,
                "pass_rate": _rate(trials),
                "cases": len(trials),
                "decoy_called_first": growth.taken[count][0],
                "trials": growth.taken[count][1],
            }
            for count, trials in growth.trials.items()
        ],
        "curve": [
            {"added": point.added, "accuracy": point.accuracy, "band": list(point.band)}
            for point in fitted.curve
        ],
    }


def _notes(bench: Bench, known: Sequence[tuple[_Growth, Slope]]) -> Iterator[str]:
    most = max(bench.options.decoys, default=0)
    for growth, fitted in known:
        if max(growth.trials) < most:
            yield (
                f"There are only {max(growth.trials)} {_KINDS[growth.kind]} tools to add, so a "
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
    arms=_arms,
    read=_read,
)
