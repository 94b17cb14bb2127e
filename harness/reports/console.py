"""The summary that a person reads in ten seconds: what failed and why first, then what it all came to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from harness.reports.build import total_usage
from harness.reports.calls import call_lines, case_mark
from harness.reports.matrix import LEGEND, distinct_leaks, leak_title, matrix_lines, unobserved_words
from harness.reports.repeats import repeat_lines, trials_passed
from harness.reports.scores import score_lines, score_tables
from harness.reports.text import bounded, money, one_line, printable, seconds, shorten
from harness.reports.tool_use import confusions
from harness.reports.words import (
    beside,
    by_urgency,
    case_name,
    effort,
    endings,
    failed_checks,
    model_words,
    pass_rate,
    stand_ins,
)
from harness.runlog import RunLog
from harness.types import CaseResult, CheckResult, Report, Run, Status

_STYLES: dict[Status, str] = {
    "passed": "green",
    "failed": "bold red",
    "error": "bold magenta",
    "skipped": "yellow",
    "cancelled": "yellow",
}
_MOST = 3
"""How many of the slowest, the dearest and the most confused are worth a line."""
_MAX_BLOCKS = 20
"""Cases that are told in full; of further ones the names."""
_MAX_LINES = 40
"""A failure's text beyond this is in the log."""
_LONGEST = 8_000
"""Characters of one text."""
_MAX_UNREMARKABLE = 30
"""Cases that passed, or were not started, are counted beyond this."""
_MAX_MATRIX = 60
"""Lines of the matrix of tests and identities."""
_MAX_ALSO = 5
"""Further failed checks of one case that are named."""


def print_summary(report: Report, log: RunLog, console: Console) -> None:
    """Print the report to ``console``; ``log`` has the conversations."""
    _Summary(report, log, console).show()


@dataclass(frozen=True, slots=True)
class _Summary:
    report: Report
    log: RunLog
    console: Console

    def show(self) -> None:
        self._title()
        self._cases()
        self.console.print()
        self._access()
        self._totals()
        self._standing_out()
        self._where_to_look()

    def _title(self) -> None:
        for suite, facts in self.report.suites.items():
            description = shorten(one_line(facts.get("description") or ""), 200)
            self._line(Text(one_line(suite), style="bold"), Text(description, style="dim"))
        for name, facts in self.report.models.items():
            self._line(Text(one_line(f"model {name}")), Text(one_line(model_words(facts, name)), style="dim"))
        self.console.print()

    def _cases(self) -> None:
        cases = by_urgency(self.report)
        remarkable = [case for case in cases if case.status not in {"passed", "skipped"}]
        for place, case in enumerate(remarkable):
            self._case(case)
            if place < _MAX_BLOCKS:
                self._why(case.spokesman)
        rest = cases[len(remarkable) :]
        for case in rest[:_MAX_UNREMARKABLE]:
            self._case(case)
            for check in case.spokesman.checks:
                if check.verdict != "passed":
                    self._check(check)
        if len(rest) > _MAX_UNREMARKABLE:
            self._indented(f"… and {len(rest) - _MAX_UNREMARKABLE} more, passed or skipped", "dim", depth=0)

    def _case(self, case: CaseResult) -> None:
        line = Text(f"{case.status:<9}", style=_STYLES[case.status])
        line.append(f" {case_name(case, self.report)}", style="" if case.status == "passed" else "bold")
        if case.planned > 1:
            line.append(f"  {trials_passed(case)}", style="dim")
        line.append(f"  {_effort(case)}", style="dim")
        self._print(line)
        if words := case_mark(case):
            self._indented(f"! {words}", "yellow")

    def _why(self, run: Run) -> None:
        """Print the one thing to look at in full, and name what else is wrong."""
        if run.description:
            self._indented(run.description, "dim")
        if run.error is not None:
            self._indented(f"{run.error.kind} error: {run.error.message}", "magenta")
            self._indented(run.error.detail or "", "dim", depth=6)
        failed = list(failed_checks(run))
        for check in failed[:1]:
            self._check(check)
        for check in failed[1 : _MAX_ALSO + 1]:
            self._label(check)
        if len(failed) > _MAX_ALSO + 1:
            self._indented(f"… and {len(failed) - _MAX_ALSO - 1} more checks", "dim")
        for check in run.checks:
            if check.verdict != "passed" and check.severity == "warn":
                self._check(check)
        self.console.print()

    def _check(self, check: CheckResult) -> None:
        self._label(check)
        self._indented(check.explanation, "", depth=6)
        if check.hint:
            self._indented(f"→ {check.hint}", "cyan", depth=6)

    def _label(self, check: CheckResult) -> None:
        warns = check.severity == "warn"
        where = f"  ({check.at})" if check.at else ""
        self._indented(f"{'!' if warns else '✗'} {check.label}{where}", "yellow" if warns else "red")

    def _access(self) -> None:
        """Print who saw what: leaks first, then tests by identities."""
        access = self.report.access
        leaks = distinct_leaks(access)
        for leak, times in leaks[:_MAX_BLOCKS]:
            often = f" ({times} trials)" if times > 1 else ""
            self._print(Text(f"leaked    {one_line(leak_title(leak))}{often}", style="bold red"))
        if len(leaks) > _MAX_BLOCKS:
            self._indented(f"… and {len(leaks) - _MAX_BLOCKS} more leaks", "red", depth=0)
        if leaks:
            self.console.print()
        lines = list(matrix_lines(self.report, self.console.width))
        for line in lines[:_MAX_MATRIX]:
            self.console.print(Text(printable(line)), soft_wrap=True)
        if len(lines) > _MAX_MATRIX:
            self._indented(f"… and {len(lines) - _MAX_MATRIX} more lines", "dim", depth=0)
        if lines:
            self._indented(LEGEND, "dim", depth=0)
        for words in unobserved_words(access):
            self._indented(f"! {words}", "yellow", depth=0)
        if lines or access.unobserved:
            self.console.print()

    def _totals(self) -> None:
        line = Text(f"{self.report.counts.planned} planned: ", style="bold")
        parts = [Text(f"{amount} {status}", style=_STYLES[status]) for status, amount in endings(self.report)]
        self._print(line.append_text(Text(", ").join(parts)))
        for words in call_lines(self.report):
            self._indented(words, "", depth=0)
        rate = pass_rate(self.report)
        if rate is not None:
            self._indented(str(rate), "", depth=0)
        for words in (*repeat_lines(self.report), *stand_ins(self.report), *effort(self.report), *beside(self.report)):
            self._indented(words, "", depth=0)
        for words in self.report.damaged:
            self._indented(f"! {one_line(words)}", "yellow", depth=0)
        self._scores()

    def _scores(self) -> None:
        """Print the scores of benchmarks."""
        for table in score_tables(self.report):
            self.console.print()
            self._line(Text(one_line(f"scores of {table.suite}"), style="bold"), Text(one_line(table.model)))
            for line in score_lines(table):
                self._indented(line, "", depth=2)

    def _standing_out(self) -> None:
        mistaken = confusions(self.report, self.log)
        self._few(
            "expected → called instead",
            [f"{one.expected} → {one.called}{f' ({one.trials}×)' if one.trials > 1 else ''}" for one in mistaken],
            style="yellow",
        )
        ran = [case for case in self.report.cases if any(run.stop for run in case.trials)]
        self._most("slowest", ran, _time, seconds)
        self._most("dearest", ran, _cost, money)

    def _most(
        self, title: str, cases: Sequence[CaseResult], of: Callable[[CaseResult], float], show: Callable[[float], str]
    ) -> None:
        ordered = sorted((case for case in cases if of(case) > 0), key=of, reverse=True)
        if len(ordered) > 1:
            self._few(title, [f"{case_name(case, self.report)} {show(of(case))}" for case in ordered], hidden=False)

    def _few(self, title: str, items: Sequence[str], *, style: str = "dim", hidden: bool = True) -> None:
        if items:
            more = f", {len(items) - _MOST} more" if hidden and len(items) > _MOST else ""
            self._indented(f"{title}: {', '.join(items[:_MOST])}{more}", style, depth=0)

    def _where_to_look(self) -> None:
        if self.report.reason != "complete":
            self._indented(f"The run ended early: {self.report.reason}.", "yellow", depth=0)
        self._indented(f"log {self.report.log}", "dim", depth=0)
        self._indented(f"Every message and call: harness view {self.report.run_id}", "dim", depth=0)

    def _line(self, *parts: Text) -> None:
        self._print(Text("  ").join(part for part in parts if part.plain))

    def _indented(self, text: str, style: str, depth: int = 4) -> None:
        lines = bounded(text, _LONGEST).splitlines()
        if len(lines) > _MAX_LINES:
            lines = [*lines[:_MAX_LINES], f"… {len(lines) - _MAX_LINES} more lines in the log"]
        if lines:
            self._print(Text("\n".join(lines), style=style), depth)

    def _print(self, text: Text, depth: int = 0) -> None:
        for line in text.wrap(self.console, max(20, self.console.width - depth)):
            line.rstrip()
            # Wrapping may have moved to the start of a line what a CI system takes for a command there.
            tame = printable(line.plain)
            shown = line if tame == line.plain else Text(tame, style=text.style)
            self.console.print(Text(" " * depth).append_text(shown), soft_wrap=True)


def _time(case: CaseResult) -> float:
    return max(run.latency_s for run in case.trials)


def _cost(case: CaseResult) -> float:
    """Return dollars; nobody can say of an unknown cost that it is high."""
    return total_usage(case.trials).cost_usd or 0.0


def _effort(case: CaseResult) -> str:
    ran = [run for run in case.trials if run.stop is not None]
    if not ran:
        reason = case.spokesman.skip_reason
        return f"({reason})" if reason else ""
    calls = sum(run.tool_calls for run in ran)
    cost = f", {money(_cost(case))}" if _cost(case) else ""
    scored = [(check.score, check.turn) for run in ran for check in run.checks if check.score is not None]
    # What was found of the whole counts the turns already.
    scores = [score for score, turn in scored if turn is None] or [score for score, _ in scored]
    score = f", score {sum(scores) / len(scores):.2f}" if scores else ""
    return f"{seconds(sum(run.latency_s for run in ran))}, {calls} call{'' if calls == 1 else 's'}{cost}{score}"
