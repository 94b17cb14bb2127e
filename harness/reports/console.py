"""The summary that a person reads in ten seconds: what failed and why first, then what it all came to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from harness.reports.text import money, number, printable, seconds, shorten
from harness.stats import wilson
from harness.types import CheckResult, Report, Run, Status

_STYLES: dict[Status, str] = {
    "passed": "green",
    "failed": "bold red",
    "error": "bold magenta",
    "skipped": "yellow",
    "cancelled": "yellow",
}
_URGENCY: dict[Status, int] = {"failed": 0, "error": 1, "cancelled": 2, "skipped": 3, "passed": 4}
_SLOWEST = 3
"""How many of the slowest cases are worth a line."""
_MAX_LINES = 40
"""A failure's text beyond this is in the log."""


def print_summary(report: Report, console: Console) -> None:
    """Print the report to ``console``."""
    _Summary(report, console).show()


@dataclass(frozen=True, slots=True)
class _Summary:
    report: Report
    console: Console

    def show(self) -> None:
        self._title()
        for run in sorted(self.report.runs, key=lambda run: _URGENCY[run.status]):
            self._run(run)
        self.console.print()
        self._totals()
        self._where_to_look()

    def _title(self) -> None:
        for suite, facts in self.report.suites.items():
            self._line(Text(suite, style="bold"), Text(shorten(_one_line(facts.get("description")), 200), style="dim"))
        for name, facts in self.report.models.items():
            self._line(Text(f"model {name}"), Text(_model_words(facts, name), style="dim"))
        self.console.print()

    def _run(self, run: Run) -> None:
        repeat = f" #{run.index + 1}" if self.report.settings.get("trials", 1) > 1 else ""
        which = f" [{run.model}]" if len(self.report.models) > 1 else ""
        suite = f"{run.suite}::" if len(self.report.suites) > 1 else ""
        line = Text(f"{run.status:<9}", style=_STYLES[run.status])
        line.append(f" {printable(suite + run.case)}{repeat}{which}", style="bold" if run.status != "passed" else "")
        line.append(f"  {_effort(run)}", style="dim")
        self.console.print(line)
        if run.status in {"passed", "skipped"}:
            self._details(check for check in run.checks if check.verdict != "passed")
            return
        if run.description:
            self._indented(run.description, "dim")
        if run.error is not None:
            self._indented(f"{run.error.kind} error: {run.error.message}", "magenta")
            if run.error.detail:
                self._indented(run.error.detail, "dim", depth=6)
        self._details(check for check in run.checks if check.verdict != "passed")
        self.console.print()

    def _details(self, checks: Iterable[CheckResult]) -> None:
        for check in checks:
            warns = check.severity == "warn"
            mark = "!" if warns else "✗"
            where = f"  ({check.at})" if check.at else ""
            self._indented(f"{mark} {check.label}{where}", "yellow" if warns else "red")
            self._indented(check.explanation, "", depth=6)
            if check.hint:
                self._indented(f"→ {check.hint}", "cyan", depth=6)

    def _totals(self) -> None:
        counts = self.report.counts
        endings: Sequence[tuple[Status, int]] = (
            ("passed", counts.passed),
            ("failed", counts.failed),
            ("error", counts.error),
            ("skipped", counts.skipped),
            ("cancelled", counts.cancelled),
        )
        line = Text(f"{counts.planned} planned: ", style="bold")
        line.append_text(
            Text(", ").join(Text(f"{amount} {status}", style=_STYLES[status]) for status, amount in endings if amount)
        )
        self.console.print(line)
        interval = wilson(counts.passed, counts.judged)
        if interval is not None:
            low, high = (round(100 * bound) for bound in interval)
            rate = round(100 * counts.passed / counts.judged)
            self._indented(f"pass rate {rate} % of {counts.judged} judged (95 % interval {low}–{high} %)", "", depth=0)
        usage = self.report.usage
        took = "interrupted" if self.report.elapsed_s is None else seconds(self.report.elapsed_s)
        self._indented(
            f"time {took} · tokens {number(usage.input_tokens)} in, {number(usage.output_tokens)} out"
            f" · cost {money(usage.cost_usd)}",
            "",
            depth=0,
        )
        self._slowest()

    def _slowest(self) -> None:
        ran = sorted((run for run in self.report.runs if run.stop), key=lambda run: run.latency_s, reverse=True)
        if len(ran) > 1:
            names = ", ".join(f"{run.case} {seconds(run.latency_s)}" for run in ran[:_SLOWEST])
            self._indented(f"slowest {names}", "dim", depth=0)

    def _where_to_look(self) -> None:
        if self.report.reason != "complete":
            self._indented(f"The run ended early: {self.report.reason}.", "yellow", depth=0)
        self._indented(f"log {self.report.log}", "dim", depth=0)
        if self.report.counts.passed < self.report.counts.planned:
            self._indented("See every message and call: the same command with --debug.", "dim", depth=0)

    def _line(self, *parts: Text) -> None:
        self.console.print(Text("  ").join(part for part in parts if part.plain))

    def _indented(self, text: str, style: str, depth: int = 4) -> None:
        lines = printable(text).splitlines()
        if len(lines) > _MAX_LINES:
            lines = [*lines[:_MAX_LINES], f"… {len(lines) - _MAX_LINES} more lines in the log"]
        room = max(20, self.console.width - depth)
        for line in Text("\n".join(lines), style=style).wrap(self.console, room):
            line.rstrip()
            self.console.print(Text(" " * depth).append_text(line), soft_wrap=True)


def _one_line(text: str | None) -> str:
    return " ".join(printable(text or "").split())


def _model_words(facts: object, name: str) -> str:
    assert isinstance(facts, dict)
    if facts.get("provider") == "lexical":
        return "(built-in baseline, not an LLM)"
    model_id = facts.get("model_id")
    return f"({facts.get('provider')}: {model_id})" if model_id != name else f"({facts.get('provider')})"


def _effort(run: Run) -> str:
    if run.stop is None:
        return f"({run.skip_reason})" if run.skip_reason else ""
    calls = f"{run.tool_calls} call{'' if run.tool_calls == 1 else 's'}"
    cost = "" if not run.usage.cost_usd else f", {money(run.usage.cost_usd)}"
    return f"{seconds(run.latency_s)}, {calls}{cost}"
