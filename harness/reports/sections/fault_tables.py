"""The figures of faults as tables of text, in words that all reports share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.base import Interval, format_money, format_seconds, make_one_line, shorten_middle
from harness.reports.sections.error_texts import error_text_lines
from harness.reports.sections.faults import FaultArm, measure_faults
from harness.reports.terminal import table_lines
from harness.runlog import RunLog
from harness.types import Report

_LONGEST = 40
_COUNTS = {
    "blind": "blind_retries",
    "runaway": "runaways",
    "doubled": "duplicate_writes",
    "made good": "made_good",
    "false success": "false_successes",
    "honest": "honest_failures",
    "open": "open_endings",
}
LEGEND = (
    "passed: P(passed | fired); retention: that ÷ P(passed | clean) of the same cases; blind: "
    "equal calls after an error that says they will not help; doubled: writes carried out again"
)
"""What the columns say."""


def fault_tables(report: Report, log: RunLog, width: int = 120) -> Iterator[tuple[str, list[str]]]:
    """Yield a title and lines within ``width``: for each suite and model its figures, then cases.

    Then come the server's own error texts, if anything was lost by one.
    """
    groups: dict[tuple[str, str], list[FaultArm]] = {}
    for arm in measure_faults(report, log):
        groups.setdefault((arm.suite, arm.subject), []).append(arm)
    for (suite, subject), arms in groups.items():
        title = make_one_line(f"faults of {suite}, {subject}")
        yield title, [*_list_figures(arms, width), LEGEND, *_list_remarks(arms)]
        yield f"{title}: cases", list(_list_cells(arms, width))
    if lines := list(error_text_lines(report, log, width)):
        yield "error texts of the server, worst first", lines


def _list_figures(arms: Sequence[FaultArm], width: int) -> Iterator[str]:
    fired = [arm for arm in arms if arm.fired]
    if not fired:
        return
    names = ["fault", *(_shorten_name(arm.fault) for arm in fired)]
    columns = [
        ["fired", *(f"{arm.fired}/{arm.fired + arm.not_fired}" for arm in fired)],
        ["clean", *(_format_share(arm.clean) for arm in fired)],
        ["passed", *(_format_share(arm.recovery, arm.recovery_interval) for arm in fired)],
        ["retention", *(_format_share(arm.retention, arm.retention_interval) for arm in fired)],
        *([name, *(str(getattr(arm, key)) for arm in fired)] for name, key in _COUNTS.items()),
        ["replies", *(_format_more(arm.extra_replies) for arm in fired)],
        ["cost", *(_format_extra(arm.extra_cost_usd, format_money) for arm in fired)],
        ["time", *(_format_extra(arm.extra_s, format_seconds) for arm in fired)],
    ]
    yield from table_lines(names, columns, width)


def _list_remarks(arms: Sequence[FaultArm]) -> Iterator[str]:
    if silent := [_shorten_name(arm.fault) for arm in arms if not arm.fired]:
        yield f"never fired, so nothing is said of recovery: {', '.join(silent)}"
    for arm in arms:
        if arm.unjudged:
            yield f"{_shorten_name(arm.fault)}: {arm.unjudged} trials that it hit have no verdict"
    curves: dict[str, list[FaultArm]] = {}
    for arm in arms:
        if arm.rate is not None:
            curves.setdefault(_name_curve(arm), []).append(arm)
    for name, points in curves.items():
        told = (
            f"{arm.rate:g} → {_format_share(arm.rate_retention, arm.rate_retention_interval)}"
            for arm in sorted(points, key=lambda arm: arm.rate or 0.0)
        )
        yield f"retention by rate of {_shorten_name(name)}: 0 → 100 %; {'; '.join(told)}"


def _name_curve(arm: FaultArm) -> str:
    """Return the fault without its rate: ``*: error``."""
    place, _, do = arm.words.partition(": ")
    return f"{place.partition('@')[0]}: {do}"


def _list_cells(arms: Sequence[FaultArm], width: int) -> Iterator[str]:
    cases = dict.fromkeys(case for arm in arms for case in (*arm.clean_cells, *arm.cells))
    clean = {case: cell for arm in arms for case, cell in arm.clean_cells.items()}
    columns = [
        ["clean", *(clean.get(case, "·") for case in cases)],
        *(
            [_shorten_name(arm.fault), *(arm.cells.get(case, "·") for case in cases)]
            for arm in arms
        ),
    ]
    yield from table_lines(["case", *map(_shorten_name, cases)], columns, width)


def _shorten_name(name: str) -> str:
    return shorten_middle(make_one_line(name), _LONGEST)


def _format_share(share: float | None, interval: Interval | None = None) -> str:
    if share is None:
        return "–"
    ends = "" if interval is None else f" ({100 * interval[0]:.0f}–{100 * interval[1]:.0f})"
    return f"{100 * share:.0f} %{ends}"


def _format_more(value: float | None) -> str:
    return "–" if value is None else f"{value:+.1f}"


def _format_extra(value: float | None, form: Callable[[float], str]) -> str:
    return "–" if value is None else f"{'-' if value < 0 else '+'}{form(abs(value))}"
