"""The output of every command that ends with results, and its exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click
from rich.console import Console

from harness import probing, reports  # loaded where they are used
from harness.base import UsageError, make_printable
from harness.cli.comparison_gate import GatedComparison, compare_results
from harness.judging import EXIT_FAILED, EXIT_INVALID, EXIT_PASSED, exit_code
from harness.reports import (
    ComparedRun,
    Detail,
    ReportRequest,
    TelemetryRequest,
    build_report,
    export_log,
    print_summary,
    stdout_console,
    write_json,
    write_report,
    write_transcripts,
)
from harness.runlog import RunLog, amend_log
from harness.types import Case, Report

Scores: TypeAlias = "Mapping[str, probing.SuiteScore]"
"""Suite → its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """Whether faults are planted in the recorded answers."""

    mutate: bool = False
    """Whether to say which of them a suite would miss."""
    min_score: float | None = None
    """The percentage that each suite must notice, if any."""

    @property
    def is_requested(self) -> bool:
        """Whether any score is wanted."""
        return self.mutate or self.min_score is not None

    def measure_scores(self, log: RunLog, cases: Iterable[tuple[str, Case]]) -> Scores | None:
        """Return the scores of the suites of ``log``, if they are asked for."""
        return probing.score_run(log, cases, self.min_score) if self.is_requested else None


def find_low_scores(scores: Scores | None) -> list[str] | None:
    """Return which scores are too low; ``None`` if no minimum was asked for."""
    held = {name: score for name, score in (scores or {}).items() if score.is_required}
    low = [f"{name}: {score.fault}" for name, score in held.items() if score.fault is not None]
    return low if held else None


def scores_json(scores: Scores | None) -> dict[str, Any]:
    """Return ``{"mutants": {suite: score}}``; nothing where no scores were asked for."""
    return (
        {} if scores is None else {"mutants": {name: one.document for name, one in scores.items()}}
    )


def print_scores(scores: Scores | None, console: Console) -> None:
    """Print the score of each suite: survivors, the lines that are missing, and the sums."""
    for name, score in (scores or {}).items():
        console.print(make_printable(f"Planted faults, judged by {name}:"), soft_wrap=True)
        for line, style in score.lines:
            console.print(make_printable(line), style=style, soft_wrap=True)


RESUMABLE = frozenset({"interrupted", "fail-fast", "max-errors"})
"""Reasons of an early end after which a run can be resumed unchanged. A run that used up its budget
needs a larger one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsOutput:
    """The output that the user asked for."""

    json_output: bool = False
    """One JSON document on stdout instead of the summary."""
    reports: tuple[ReportRequest, ...] = ()
    """Reports to write into files."""
    debug: bool = False
    """Whether to print every conversation before the summary."""
    quiet: bool = False
    """Whether the summary has only one line for each case that did not pass."""
    verbose: bool = False
    """Whether the summary has every case, and every failed check in full."""
    baseline: ComparedRun | None = None
    """A run to compare with."""
    gate: float | None = None
    """Margin by which the pass rate may be worse than the baseline's.

    ``None``: no gate, every failed case counts."""

    otel: str | None = None
    """URL of the trace collector, empty for the environment's; ``None``: no traces are sent."""
    otel_content: bool = False
    """Whether traces contain messages, arguments and results."""

    def __post_init__(self) -> None:
        """Refuse a gate without a baseline, and trace content without traces."""
        if self.gate is not None and self.baseline is None:
            raise UsageError("--gate needs a run to compare with", meant="Add --baseline RUN.")
        if self.otel_content and self.otel is None:
            raise UsageError("--otel-content needs --otel", meant="Add --otel.")
        if self.quiet and self.verbose:
            raise UsageError("--quiet and --verbose cannot be combined")
        # Made once for its errors, while nothing has been run yet.
        _ = self.telemetry

    @property
    def detail(self) -> Detail:
        """The summary's level of detail."""
        return "quiet" if self.quiet else "verbose" if self.verbose else "usual"

    @property
    def telemetry(self) -> TelemetryRequest | None:
        """The traces to send, if any."""
        return (
            None
            if self.otel is None
            else TelemetryRequest(endpoint=self.otel or None, content=self.otel_content)
        )


def report_requests(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[ReportRequest, ...]:
    """Read every ``--report`` before anything runs, so that a mistake costs nothing."""
    return tuple(ReportRequest.parse(value) for value in values)


def show_results(
    log: RunLog, output: ResultsOutput, *, resume: str | None = None, scores: Scores | None = None
) -> None:
    """Write the results of ``log`` and exit with their exit code.

    ``resume`` is the command that resumes an interrupted run; it is the last line of the output.
    ``scores`` are the mutation scores of its suites, if they were asked for.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a terminal whose encoding has no ✗ gets a question mark
        sys.stdout.reconfigure(errors="replace")
    verdict = compare_results(log, output.baseline, output.gate)
    log, report, code = _apply_gate(log, verdict, scores)
    written, refused = _write_reports(report, log, output)
    if output.json_output:
        more = {} if verdict is None else verdict.to_json()
        write_json(report, log, sys.stdout, {**more, **scores_json(scores)})
    else:
        if output.debug:
            write_transcripts(report, log, sys.stdout)
        console = stdout_console()
        print_summary(report, log, console, output.detail)
        print_scores(scores, console)
        if verdict is not None:
            verdict.print_to(console)
        for path, _ in written:
            click.echo(f"report {path}")
    # The results first: stderr is not buffered and would overtake them.
    sys.stdout.flush()
    for line in (line for _, lines in written for line in lines):
        click.echo(line, err=True)
    reports.keep_store(log, report)  # after everything that somebody waits for
    if output.telemetry is not None:
        click.echo(export_log(log, output.telemetry).sentence, err=True)
    if resume is not None and report.reason in RESUMABLE:
        click.echo(f"Resume it with: {resume}", err=True)
    if refused and output.json_output:  # stdout already has its one document
        click.echo(f"Error: {make_printable(str(refused[0]))}", err=True)
        raise click.exceptions.Exit(EXIT_INVALID)
    if refused:
        raise refused[0]
    raise click.exceptions.Exit(code)


def _apply_gate(
    log: RunLog, verdict: GatedComparison | None, scores: Scores | None
) -> tuple[RunLog, Report, int]:
    """Return the log, its report and the exit code.

    If a gate or a mutation score fails a run that otherwise passed, the log records it. Otherwise
    other views of the log would show a success where the command failed.
    """
    too_low = find_low_scores(scores)
    if (verdict is None or verdict.gate is None) and too_low is None:
        report = build_report(log)
        return log, report, exit_code(report)
    log = amend_log(log, fault=None)  # that of an earlier gate, if the run was resumed
    report = build_report(log)
    code = exit_code(report) if verdict is None else verdict.exit_code(report)
    failing = list(too_low or ())
    if verdict is not None and code != EXIT_PASSED == exit_code(report):
        failing.append(verdict.gate_failure)
    if failing:
        # Made again from the amended log, so that all reports say the same as the exit code.
        log = amend_log(log, fault="; ".join(failing))
        report = build_report(log)
        # A code that already says more, such as an interruption, stays.
        code = EXIT_FAILED if code == EXIT_PASSED else code
    return log, report, code


def _write_reports(
    report: Report, log: RunLog, output: ResultsOutput
) -> tuple[list[tuple[Path, list[str]]], list[UsageError]]:
    """Write every report that can be written: one bad path must not lose the results of a run."""
    written, refused = [], []
    for request in output.reports:
        try:
            written.append(write_report(request, report, log))
        except UsageError as error:
            refused.append(error)
    return written, refused
