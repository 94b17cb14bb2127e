"""The summary to read in ten seconds: what passed in a line, what failed and why, the totals.

The end of it stays on the screen when a run is over, so failures come last, and complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from rich.console import Console
from rich.text import Text

from harness.base import (
    format_money,
    format_seconds,
    limit_text,
    make_one_line,
    make_printable,
    shorten_text,
)
from harness.reports.case_names import case_name
from harness.reports.record_fields import sum_fields
from harness.reports.sections.attacks import attack_lines
from harness.reports.sections.fault_tables import fault_tables
from harness.reports.sections.matrices import (
    LEGEND,
    access_warnings,
    distinct_leaks,
    grid_lines,
    leak_title,
    matrix_lines,
)
from harness.reports.sections.remarks import (
    case_mark,
    case_remark,
    failed_warnings,
    format_warnings,
    remark_lines,
)
from harness.reports.sections.repeats import repeat_lines, trials_passed
from harness.reports.sections.scores import score_lines, score_tables
from harness.reports.sections.sentences import (
    contradictions,
    failed_checks,
    format_effort,
    format_problem,
    format_side_usage,
    least_urgent_first,
    list_servers,
    list_status_counts,
    model_words,
    pass_rate_lines,
    stand_ins,
)
from harness.reports.sections.tool_use import find_confusions
from harness.reports.terminal import print_text
from harness.reports.trial_record import TrialRecord
from harness.runlog import RunLog
from harness.suites import list_disturbances
from harness.types import (
    CaseResult,
    CheckResult,
    Report,
    Status,
    TrialResult,
    dataclass,
)

_STYLES: dict[Status, str] = {
    "passed": "green",
    "failed": "bold red",
    "error": "bold magenta",
    "skipped": "yellow",
    "cancelled": "yellow",
}
_MOST = 3
"""Lines for the slowest and the dearest cases, and for the tools most often confused."""
_MAX_BLOCKS = 20
"""Cases that are shown in full; of further ones only the names."""
_MAX_LINES = 40
"""A failure's text beyond this is in the log."""
_LONGEST = 8_000
"""Characters of one text."""
_FEW = 5
"""Cases that passed, or were not started, have a line each up to this number; more are named in
one."""
_NAMES = 160
"""Characters of the names in such a line."""
_MAX_MATRIX = 60
"""Lines of the matrix of tests and identities."""
_PROBLEM = 300
"""Characters of what went wrong, where that has one line."""
_MAX_ALSO = 5
"""Further failed checks of one case that are named."""


def print_summary(report: Report, log: RunLog, console: Console, detail: Detail = "usual") -> None:
    """Print the report to ``console``; ``log`` has the conversations."""
    _Summary(report, log, console, detail).print_all()


Detail: TypeAlias = Literal["quiet", "usual", "verbose"]
"""``quiet``: a line for each case that did not pass or has a mark, and the counts; ``verbose``:
every case, every failed check."""


@dataclass(frozen=True, slots=True)
class _Summary:
    report: Report
    log: RunLog
    console: Console
    detail: Detail

    def print_all(self) -> None:
        if self.detail == "quiet":
            self._print_brief()
            return
        self._print_title()
        self._print_grid()
        self._print_cases()
        self._print_access()
        self._print_totals()
        self._print_extremes()
        self._print_locations()

    def _print_brief(self) -> None:
        for case in least_urgent_first(self.report):
            if case.status not in {"passed", "skipped"}:
                why = shorten_text(format_problem(case.deciding_trial), _PROBLEM)
                self._print(Text(f"{case.status:<9} {case_name(case, self.report)}: {why}"))
                self._print_indented(format_warnings(case) or "", "", depth=10)
            elif words := case_remark(case):
                line = f"{case.status:<9} {case_name(case, self.report)}: ! {words}"
                self._print(Text(shorten_text(line, 2 * _PROBLEM)))
        self._print_counts()
        self._print_lines(remark_lines(self.report))
        self._print_damage()

    def _print_grid(self) -> None:
        """Print the verdicts of several models, case by case."""
        lines = list(grid_lines(self.report, self.console.width))
        self._print_table(lines)
        if lines:
            self.console.print()

    def _print_table(self, lines: Sequence[str]) -> None:
        for line in lines[:_MAX_MATRIX]:
            self.console.print(Text(make_printable(line)), soft_wrap=True)
        if len(lines) > _MAX_MATRIX:
            self._print_indented(f"… and {len(lines) - _MAX_MATRIX} more lines", "dim", depth=0)

    def _print_title(self) -> None:
        for suite, facts in self.report.suites.items():
            description = shorten_text(make_one_line(facts.get("description") or ""), 200)
            self._print_pair(make_one_line(suite), "bold", description)
        for name, words in list_servers(self.report):
            self._print_pair(f"server {name}", "", words)
        disturbances: dict[str, None] = {}
        for name, facts in self.report.entrants.items():
            if values := list_disturbances(facts):
                disturbances |= dict.fromkeys(values)
                continue
            words = make_one_line(model_words(self.report, name))
            self._print_pair(make_one_line(f"model {name}"), "", words)
        if disturbances:
            self._print_pair(
                "each also under", "", shorten_text(make_one_line(", ".join(disturbances)), 300)
            )
        self.console.print()

    def _print_cases(self) -> None:
        cases = least_urgent_first(self.report)
        folded: dict[Status, list[CaseResult]] = {"passed": [], "skipped": []}
        told: list[CaseResult] = []
        loud: list[CaseResult] = []
        for case in cases:
            if case.status not in folded:
                loud.append(case)
            elif self.detail == "verbose" or _is_remarkable(case):
                told.append(case)
            else:
                folded[case.status].append(case)
        for status, alike in folded.items():
            self._print_folded(status, alike)
        for case in told:
            self._print_case(case)
            for check in case.deciding_trial.checks:
                if check.verdict != "passed":
                    self._print_check(check)
        if len(loud) < len(cases):
            self.console.print()
        whole = len(loud) if self.detail == "verbose" else _MAX_BLOCKS
        # Named first: the most urgent ones come last, and stay on the screen.
        for case in loud[:-whole]:
            self._print_case(case)
        if loud[:-whole]:
            self.console.print()
        for case in loud[-whole:]:
            self._print_case(case)
            self._print_problem(case.deciding_trial)

    def _print_folded(self, status: Status, cases: Sequence[CaseResult]) -> None:
        """Print a line for each of a few cases, or one for many; a model grid has them already."""
        if not cases or (len(cases) <= _FEW and len(self.report.entrants) == 1):
            for case in cases:
                self._print_case(case)
            return
        names: list[str] = []
        for case in cases:
            name = case_name(case, self.report)
            if names and sum(map(len, names)) + 2 * len(names) + len(name) > _NAMES:
                break
            names.append(name)
        more = f", … {len(cases) - len(names)} more" if len(cases) > len(names) else ""
        line = Text(f"{len(cases)} {status}", style=_STYLES[status])
        self._print(line.append(f": {', '.join(names)}{more}", style="dim"))

    def _print_case(self, case: CaseResult) -> None:
        line = Text(f"{case.status:<9}", style=_STYLES[case.status])
        name = case_name(case, self.report)
        line.append(f" {name}", style="" if case.status == "passed" else "bold")
        if case.planned > 1:
            line.append(f"  {trials_passed(case)}", style="dim")
        line.append(f"  {_format_effort(case)}", style="dim")
        self._print(line)
        if words := case_mark(case):
            self._print_indented(f"! {words}", "yellow")

    def _print_problem(self, result: TrialResult) -> None:
        """Print the first problem in full, and name the others."""
        record = TrialRecord(result)
        self._print_indented(record.description or "", "dim")
        if record.error is not None:
            self._print_indented(f"{record.error_kind} error: {record.error}", "magenta")
            self._print_indented(record.error_detail or "", "dim", depth=6)
        failed = list(failed_checks(result))
        whole = len(failed) if self.detail == "verbose" else 1
        for check in failed[:whole]:
            self._print_check(check)
        for check in failed[whole : _MAX_ALSO + 1]:
            self._print_label(check)
        if len(failed) > max(whole, _MAX_ALSO + 1):
            self._print_indented(f"… and {len(failed) - _MAX_ALSO - 1} more checks", "dim")
        for check in failed_warnings(result):
            self._print_check(check)
        self.console.print()

    def _print_check(self, check: CheckResult) -> None:
        self._print_label(check)
        self._print_indented(check.explanation, "", depth=6)
        if check.hint:
            self._print_indented(f"→ {check.hint}", "cyan", depth=6)

    def _print_label(self, check: CheckResult) -> None:
        mark, style = ("!", "yellow") if check.severity == "warn" else ("✗", "red")
        where = f"  ({check.at})" if check.at else ""
        self._print_indented(f"{mark} {check.label}{where}", style)

    def _print_access(self) -> None:
        """Print the access matrix: leaks first, then tests by identities."""
        access = self.report.access
        leaks = distinct_leaks(access)
        for leak, times in leaks[:_MAX_BLOCKS]:
            often = f" ({times} trials)" if times > 1 else ""
            words = f"leaked    {make_one_line(leak_title(leak, self.report))}{often}"
            self._print(Text(words, style="bold red"))
        if len(leaks) > _MAX_BLOCKS:
            self._print_indented(f"… and {len(leaks) - _MAX_BLOCKS} more leaks", "red", depth=0)
        if leaks:
            self.console.print()
        lines = list(matrix_lines(self.report, self.console.width))
        self._print_table(lines)
        if lines:
            self._print_indented(LEGEND, "dim", depth=0)
        warnings = list(access_warnings(access))
        self._print_lines((f"! {words}" for words in warnings), "yellow")
        if lines or warnings:
            self.console.print()

    def _print_counts(self) -> None:
        line = Text(f"{self.report.counts.planned} planned: ", style="bold")
        counts = list_status_counts(self.report)
        parts = [Text(f"{amount} {it}", style=_STYLES[it]) for it, amount in counts]
        self._print(line.append_text(Text(", ").join(parts)))

    def _print_totals(self) -> None:
        self._print_counts()
        lines = (
            *remark_lines(self.report),
            *pass_rate_lines(self.report, disturbed=False),
            *repeat_lines(self.report),
            *stand_ins(self.report),
            *contradictions(self.report),
            *format_effort(self.report),
            *format_side_usage(self.report),
        )
        self._print_lines(lines)
        self._print_lines(attack_lines(self.report, self.console.width))
        self._print_damage()
        self._print_scores()

    def _print_damage(self) -> None:
        self._print_lines((f"! {make_one_line(words)}" for words in self.report.damaged), "yellow")

    def _print_lines(self, lines: Iterable[str], style: str = "", depth: int = 0) -> None:
        for line in lines:
            self._print_indented(line, style, depth)

    def _print_scores(self) -> None:
        """Print the scores of leaderboards, and what was made of faults."""
        for table in score_tables(self.report):
            self.console.print()
            title = make_one_line(f"scores of {table.suite}")
            self._print_pair(title, "bold", make_one_line(table.entrant), "")
            self._print_lines(score_lines(table), depth=2)
        for title, lines in fault_tables(self.report, self.log, self.console.width - 2):
            self.console.print()
            self._print_pair(title, "bold", "")
            self._print_lines(lines, depth=2)

    def _print_extremes(self) -> None:
        mistaken = [
            f"{one.expected} → {one.called}{f' ({one.trials}×)' if one.trials > 1 else ''}"
            for one in find_confusions(self.report, self.log)
        ]
        if mistaken:
            more = f", {len(mistaken) - _MOST} more" if len(mistaken) > _MOST else ""
            words = f"expected → called instead: {', '.join(mistaken[:_MOST])}{more}"
            self._print_indented(words, "yellow", depth=0)
        ran = [case for case in self.report.cases if any(result.stop for result in case.trials)]
        slowest = [(max(result.latency_s for result in case.trials), case) for case in ran]
        self._print_highest("slowest", slowest, format_seconds)
        self._print_highest("dearest", [(_sum_cost(case), case) for case in ran], format_money)

    def _print_highest(
        self,
        title: str,
        amounts: Sequence[tuple[float, CaseResult]],
        show: Callable[[float], str],
    ) -> None:
        found = [one for one in amounts if one[0] > 0]
        if len(found) > 1:
            most = sorted(found, key=lambda one: one[0], reverse=True)[:_MOST]
            named = (f"{case_name(case, self.report)} {show(amount)}" for amount, case in most)
            self._print_indented(f"{title}: {', '.join(named)}", "dim", depth=0)

    def _print_locations(self) -> None:
        if self.report.reason != "complete":
            self._print_indented(f"The run ended early: {self.report.reason}.", "yellow", depth=0)
        self._print_indented(f"log {self.report.log}", "dim", depth=0)
        command = f"harness view {self.report.run_id}"
        self._print_indented(f"Every message and call: {command}", "dim", depth=0)

    def _print_pair(self, title: str, style: str, words: str, dim: str = "dim") -> None:
        parts = (Text(title, style=style), Text(words, style=dim))
        self._print(Text("  ").join(part for part in parts if part.plain))

    def _print_indented(self, text: str, style: str, depth: int = 4) -> None:
        lines = limit_text(text, _LONGEST).splitlines()
        if len(lines) > _MAX_LINES:
            lines = [*lines[:_MAX_LINES], f"… {len(lines) - _MAX_LINES} more lines in the log"]
        if lines:
            self._print(Text("\n".join(lines), style=style), depth)

    def _print(self, text: Text, depth: int = 0) -> None:
        print_text(self.console, text, depth)


def _is_remarkable(case: CaseResult) -> bool:
    """Whether a case that passed, or was not started, has something that a reader should know.

    What was disturbed has cells of its own in the tables below, "not fired" among them.
    """
    if list_disturbances(case.axes):
        return False
    checks = case.deciding_trial.checks
    return case_mark(case) is not None or any(one.verdict != "passed" for one in checks)


def _sum_cost(case: CaseResult) -> float:
    """Return dollars; nobody can say of an unknown cost that it is high."""
    return sum_fields(case.trials, ["cost_usd"])["cost_usd"] or 0.0


def _format_effort(case: CaseResult) -> str:
    ran = [run for run in case.trials if run.stop is not None]
    if not ran:
        reason = case.deciding_trial.skip_reason
        return f"({reason})" if reason else ""
    sums = sum_fields(ran, ("latency_s", "tool_calls"))
    took, calls = format_seconds(sums["latency_s"]), sums["tool_calls"]
    cost = f", {format_money(spent)}" if (spent := _sum_cost(case)) else ""
    scored = [(it.score, it.turn) for run in ran for it in run.checks if it.score is not None]
    # What was found of the whole counts the turns already.
    scores = [score for score, turn in scored if turn is None] or [score for score, _ in scored]
    score = f", score {sum(scores) / len(scores):.2f}" if scores else ""
    return f"{took}, {calls} call{'' if calls == 1 else 's'}{cost}{score}"
