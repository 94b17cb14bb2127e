"""Study: which tools does the model confuse? Compares the expected first tool and the called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base import ConfusionMatrix, Trials, as_one, cases_of_tests, printable, rate_interval
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measured import FirstCall, Measured
from harness.descriptions.workbench.study import Bench, Finding, Study, StudyResult
from harness.judging import FirstWanted, wanted_first
from harness.reports import percent

_NONE = ""
"""The class of no call, in `ConfusionMatrix`; JSON has null."""
_CLEAR = 0.1
"""A confusion is certain if its share is above this, with a confidence of 97.5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sorted:
    """A trial in its cell of the matrix."""

    wanted: str
    found: str
    call: FirstCall


def _arms(_bench: Bench) -> Sequence[Arm]:
    return ()


def _read(bench: Bench, measured: Measured) -> StudyResult:
    wants = {case.name: wanted_first(case) for case in bench.suite.cases}
    calls = measured.first_calls()
    placed = [_placed(want, call) for call in calls if (want := wants.get(call.case)) is not None]
    matrix = ConfusionMatrix.of((one.wanted, one.found) for one in placed)
    wrong = sorted(_confused(placed), key=lambda cell: (-len(cell[1]), cell[0]))
    macro = matrix.macro_f1
    return StudyResult(
        study=STUDY.name,
        headline="No trial says which tool was wanted first."
        if macro is None
        else f"Macro-F1 of the first call is {macro:.2f} over {len(matrix.wanted)} tools wanted, "
        f"{len(placed)} trials.",
        lines=tuple(_line(matrix, cell, trials) for cell, trials in wrong),
        findings=tuple(_finding(placed, *one, measured.tests) for one in wrong),
        facts={
            "macro_f1": macro,
            "trials": len(placed),
            "wanted": [name or None for name in matrix.wanted],
            "called": [name or None for name in matrix.found],
            "f1": [{"tool": name or None, "f1": matrix.f1(name)} for name in matrix.wanted],
            "cells": [
                {
                    "wanted": wanted or None,
                    "called": found or None,
                    "count": count,
                    "share": matrix.rate(wanted, found),
                    "trials": [
                        one.call.key for one in placed if (one.wanted, one.found) == (wanted, found)
                    ],
                }
                for (wanted, found), count in matrix.counts.items()
            ],
        },
        notes=tuple(_notes(len(calls) - len(placed))),
    )


def _notes(left_out: int) -> Iterator[str]:
    if left_out:
        are = "1 trial is" if left_out == 1 else f"{left_out} trials are"
        yield f"{are} left out: no check there says which tool is to be called first."


def _placed(want: FirstWanted, call: FirstCall) -> _Sorted:
    """Return the cell of a trial; if several tools are right, the row is the called one."""
    found = call.tool or _NONE
    row = found if want.takes(call.tool) else next(iter(want.tools), _NONE)
    return _Sorted(wanted=row, found=found, call=call)


def _confused(placed: Sequence[_Sorted]) -> Iterator[tuple[tuple[str, str], list[_Sorted]]]:
    cells: dict[tuple[str, str], list[_Sorted]] = {}
    for one in placed:
        if one.wanted != one.found:
            cells.setdefault((one.wanted, one.found), []).append(one)
    yield from cells.items()


def _line(matrix: ConfusionMatrix, cell: tuple[str, str], trials: Sequence[_Sorted]) -> str:
    wanted, found = cell
    share = percent(matrix.rate(wanted, found) or 0.0)
    count = "1 trial" if len(trials) == 1 else f"{len(trials)} trials"
    return f"{_name(wanted, 'no tool')} → {_name(found, 'none')}: {count} ({share})"


def _finding(
    placed: Sequence[_Sorted],
    cell: tuple[str, str],
    trials: Sequence[_Sorted],
    tests: Mapping[str, str],
) -> Finding:
    wanted, found = cell
    row = [one for one in placed if one.wanted == wanted]
    shares = _shares(row, found, tests)
    rates = [hits / total for hits, total in shares]
    interval = rate_interval(rates, sum(total for _, total in shares))
    taken = "was called" if found else "was called at all"
    return Finding(
        text=f"{_name(found, 'No tool')} {taken} in {len(trials)} of {len(row)} trials that "
        f"wanted {_name(wanted, 'none')}.",
        weight=100 * len(trials) / len(placed),
        certain=interval is not None and interval[0] > _CLEAR,
        tool=wanted or found,
    )


def _shares(row: Sequence[_Sorted], found: str, tests: Mapping[str, str]) -> list[Trials]:
    """Return, for each test, its trials in ``row`` that called ``found`` first, and all of them."""
    by_case: dict[str, Trials] = {}
    for one in row:
        hits, total = by_case.get(one.call.case, (0, 0))
        by_case[one.call.case] = hits + (one.found == found), total + 1
    alike = cases_of_tests(by_case, tests)
    return [as_one([by_case[case] for case in cases]) for cases in alike]


def _name(tool: str, none: str) -> str:
    return printable(tool) if tool else none


STUDY = Study(
    name="confusion",
    place=20,
    question="Which tools does the model confuse?",
    arms=_arms,
    read=_read,
)
