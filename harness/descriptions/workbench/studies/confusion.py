"""Study: which tools does the model confuse? Compares the expected first tool and the called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.base import ConfusionMatrix, group_cases, make_printable, merge_trials, rate_interval
from harness.descriptions.workbench.measurements import FirstCall, ModelMeasurements, count_by_case
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.judging import ExpectedFirstCalls, wanted_first
from harness.reports import format_percent
from harness.types import dataclass

_NONE = ""
"""The class of no call, in `ConfusionMatrix`; JSON has null."""
_CLEAR = 0.1
"""A confusion is certain if its share is above this, with a confidence of 97.5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlacedTrial:
    """A trial in its cell of the matrix."""

    wanted: str
    found: str
    call: FirstCall


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    wants = {case.name: wanted_first(case) for case in bench.suite.cases}
    calls = measured.first_calls()
    placed = [
        _place_trial(want, call) for call in calls if (want := wants.get(call.case)) is not None
    ]
    matrix = ConfusionMatrix.from_cells((one.wanted, one.found) for one in placed)
    # By name where equally frequent, so that the order does not depend on that of the log.
    cells = Counter((one.wanted, one.found) for one in placed if one.wanted != one.found)
    wrong = sorted(cells.items(), key=lambda cell: (-cell[1], cell[0]))
    macro = matrix.macro_f1
    left_out = len(calls) - len(placed)
    are = "1 trial is" if left_out == 1 else f"{left_out} trials are"
    return StudyResult(
        headline="No trial says which tool was wanted first."
        if macro is None
        else f"Macro-F1 of the first call is {macro:.2f} over {len(matrix.expected_classes)} tools "
        f"wanted, {len(placed)} trials.",
        lines=tuple(_format_line(matrix, cell, trials) for cell, trials in wrong),
        findings=tuple(_build_finding(placed, *one, measured.tests) for one in wrong),
        facts={
            "macro_f1": macro,
            "trials": len(placed),
            "wanted": [name or None for name in matrix.expected_classes],
            "called": [name or None for name in matrix.predicted_classes],
            "f1": [
                {"tool": name or None, "f1": matrix.compute_f1(name)}
                for name in matrix.expected_classes
            ],
            "cells": [
                {
                    "wanted": wanted or None,
                    "called": found or None,
                    "count": count,
                    "share": matrix.compute_rate(wanted, found),
                    "trials": [
                        one.call.key for one in placed if (one.wanted, one.found) == (wanted, found)
                    ],
                }
                for (wanted, found), count in matrix.counts.items()
            ],
        },
        notes=(f"{are} left out: no check there says which tool is to be called first.",)
        if left_out
        else (),
    )


def _place_trial(want: ExpectedFirstCalls, call: FirstCall) -> _PlacedTrial:
    """Return the cell of a trial; if several tools are right, the row is the called one."""
    found = call.tool or _NONE
    row = found if want.matches_tool(call.tool) else next(iter(want.tools), _NONE)
    return _PlacedTrial(wanted=row, found=found, call=call)


def _format_line(matrix: ConfusionMatrix, cell: tuple[str, str], trials: int) -> str:
    wanted, found = cell
    share = format_percent(matrix.compute_rate(wanted, found) or 0.0)
    count = "1 trial" if trials == 1 else f"{trials} trials"
    return f"{_format_tool(wanted, 'no tool')} → {_format_tool(found, 'none')}: {count} ({share})"


def _build_finding(
    placed: Sequence[_PlacedTrial], cell: tuple[str, str], trials: int, tests: Mapping[str, str]
) -> Finding:
    wanted, found = cell
    row = [one for one in placed if one.wanted == wanted]
    # Tests are the units, since trials of one test are alike.
    by_case = count_by_case((one.call.case, one.found == found) for one in row)
    alike = group_cases(by_case, tests)
    shares = [merge_trials([by_case[case] for case in cases]) for cases in alike]
    interval = rate_interval(
        [hits / total for hits, total in shares], sum(total for _, total in shares)
    )
    taken = "was called" if found else "was called at all"
    return Finding(
        text=f"{_format_tool(found, 'No tool')} {taken} in {trials} of {len(row)} trials that "
        f"wanted {_format_tool(wanted, 'none')}.",
        weight=100 * trials / len(placed),
        certain=interval is not None and interval[0] > _CLEAR,
        tool=wanted or found,
    )


def _format_tool(tool: str, none: str) -> str:
    return make_printable(tool) if tool else none


STUDY = Study(
    name="confusion",
    place=20,
    question="Which tools does the model confuse?",
    read=_analyze_results,
)
