"""The output of every command that ends with results, and its exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeAlias

import click
from rich.console import Console

from harness import probing, reports
from harness.base import UsageError, make_printable
from harness.cli.run_lookup import open_compared
from harness.judging import EXIT_FAILED, EXIT_INVALID, EXIT_PASSED, EXIT_UNJUDGED, exit_code
from harness.reports import (
    ComparedRun,
    Comparison,
    Detail,
    RegressionGate,
    ReportRequest,
    TelemetryRequest,
    anticipate_gate,
    build_report,
    compare_logs,
    compare_runs,
    comparison_json,
    export_log,
    judge_gate,
    list_comparable,
    print_comparison,
    print_summary,
    stdout_console,
    write_json,
    write_report,
    write_transcripts,
)
from harness.runlog import Header, RunLog, amend_log
from harness.types import Case, JsonObject, Report, dataclass


def parse_margin(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> float | None:
    """Read a margin: ``0.05`` or ``5%``, between 0 and 1."""
    if value is None:
        return None
    try:
        number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        # What is no number is refused below, in the same words as one out of bounds.
        number = -1.0
    if not 0 <= number < 1:
        raise click.BadParameter(
            f"{value!r} is no margin: write 0.05 or 5%. Write a RUN before --gate."
        )
    return number


def open_baseline(
    context: click.Context, _parameter: click.Parameter, value: str | None
) -> ComparedRun | None:
    """Open the named run before anything else happens; it is closed when the command ends."""
    return None if value is None else context.with_resource(open_compared(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedComparison:
    """A comparison and its gate."""

    comparison: Comparison
    """A comparison with the baseline, or of the models of one run."""
    gate: RegressionGate | None = None
    """The verdict; ``None`` when there is no gate."""

    def print_to(self, console: Console) -> None:
        """Print both."""
        console.print()
        print_comparison(self.comparison, console)
        if self.gate is not None:
            for sentence in self.gate.write_sentences():
                console.print(sentence, soft_wrap=True)

    def to_json(self) -> JsonObject:
        """Return both as JSON."""
        gate = {} if self.gate is None else {"gate": self.gate.to_json()}
        return {"comparison": comparison_json(self.comparison), **gate}

    @property
    def gate_failure(self) -> str:
        """Why the gate fails a run whose cases all passed, in words."""
        return "" if self.gate is None else " ".join(self.gate.write_sentences())

    def exit_code(self, report: Report) -> int:
        """Return the exit code of ``report``; a gate decides in place of failed cases."""
        code = exit_code(report)
        # A run that was interrupted, or had nothing to run, has nothing for a gate to judge.
        if self.gate is None or code not in {EXIT_PASSED, EXIT_FAILED, EXIT_UNJUDGED}:
            return code
        if self.gate.regressions:
            return EXIT_FAILED
        # Without evidence of a regression failed cases are forgiven, and those without a verdict
        # are not.
        judged = {case.status for case in report.cases} <= {"passed", "failed"}
        if not judged:
            return EXIT_UNJUDGED
        return EXIT_INVALID if self.gate.is_blind else EXIT_PASSED


def compare_results(
    log: RunLog, earlier: ComparedRun | None, gate: float | None
) -> GatedComparison | None:
    """Compare ``log`` with an ``earlier`` run, else its models with each other.

    ``None`` if there is no earlier run and only one model to compare.

    Raises:
        UsageError: both share no model.
    """
    if earlier is not None:
        compared = compare_runs([earlier, ComparedRun.from_log(log)])
        verdict = None if gate is None else judge_gate(compared, gate)
        return GatedComparison(comparison=compared, gate=verdict)
    several = len(list_comparable(log.header)) > 1
    return GatedComparison(comparison=compare_logs([log])) if several else None


GATE = click.option(
    "--gate",
    is_flag=False,
    flag_value="0",
    callback=parse_margin,
    metavar="[MARGIN]",
    help="Exit with 1 only on evidence of a regression (of more than MARGIN, such as 5%).",
)
"""The option of every command that compares."""


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

    def announce_gate(self, header: Header) -> None:
        """Say which loss can fire the gate of the run that ``header`` announces, if there is one.

        Raises:
            UsageError: no loss can, or the run shares no model with the baseline.
        """
        if self.baseline is not None and self.gate is not None:
            gate = anticipate_gate(self.baseline, header, self.gate)
            gate.refuse_if_blind()
            click.echo(gate.describe_loss("can fire"), err=True)

    @property
    def detail(self) -> Detail:
        """The summary's level of detail."""
        return "quiet" if self.quiet else "verbose" if self.verbose else "usual"

    @property
    def telemetry(self) -> TelemetryRequest | None:
        """The traces to send, if any."""
        if self.otel is None:
            return None
        return TelemetryRequest(endpoint=self.otel or None, content=self.otel_content)


def report_requests(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[ReportRequest, ...]:
    """Read every ``--report`` before anything runs, so that a mistake costs nothing."""
    return tuple(ReportRequest.parse(value) for value in values)


def show_results(
    log: RunLog, output: ResultsOutput, *, resume: str | None = None, scores: Scores | None = None
) -> NoReturn:
    """Write the results of ``log`` and exit with their exit code.

    ``resume`` is the command that resumes an interrupted run; it is the last line of the output.
    ``scores`` are the mutation scores of its suites, if they were asked for.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a terminal whose encoding has no ✗ gets a question mark
        sys.stdout.reconfigure(errors="replace")
    verdict = compare_results(log, output.baseline, output.gate)
    log, report, code = _apply_gate(log, verdict, scores or {})
    written, refused = [], None
    for request in output.reports:
        try:
            written.append(write_report(request, report, log))
        except UsageError as error:  # one bad path must not lose the results of a run
            refused = refused or error
    if output.json_output:
        more = {} if verdict is None else verdict.to_json()
        if scores is not None:
            more = {**more, "mutants": {name: one.document for name, one in scores.items()}}
        write_json(report, log, sys.stdout, more)
    else:
        if output.debug:
            write_transcripts(report, log, sys.stdout)
        console = stdout_console()
        print_summary(report, log, console, output.detail)
        _print_scores(scores or {}, console)
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
    fail_if_refused(refused, json_output=output.json_output)
    raise click.exceptions.Exit(code)


def _print_scores(scores: Scores, console: Console) -> None:
    """Print the score of each suite: survivors, the lines that are missing, and the sums."""
    for name, score in scores.items():
        console.print(make_printable(f"Planted faults, judged by {name}:"), soft_wrap=True)
        for line, style in score.lines:
            console.print(make_printable(line), style=style, soft_wrap=True)


def fail_if_refused(refused: UsageError | None, *, json_output: bool) -> None:
    """End with the error of a file that could not be written, if there is one."""
    if refused is not None and json_output:  # stdout already has its one document
        click.echo(f"Error: {make_printable(str(refused))}", err=True)
        raise click.exceptions.Exit(EXIT_INVALID)
    if refused is not None:
        raise refused


def _apply_gate(
    log: RunLog, verdict: GatedComparison | None, scores: Scores
) -> tuple[RunLog, Report, int]:
    """Return the log, its report and the exit code.

    If a gate or a mutation score fails a run that otherwise passed, the log records it. Otherwise
    other views of the log would show a success where the command failed.
    """
    required = {name: score for name, score in scores.items() if score.is_required}
    if (verdict is None or verdict.gate is None) and not required:
        report = build_report(log)
        return log, report, exit_code(report)
    log = amend_log(log, fault=None)  # that of an earlier gate, if the run was resumed
    report = build_report(log)
    code = exit_code(report) if verdict is None else verdict.exit_code(report)
    failing = [f"{name}: {one.fault}" for name, one in required.items() if one.fault is not None]
    if verdict is not None and code != EXIT_PASSED == exit_code(report):
        failing.append(verdict.gate_failure)
    if failing:
        # Made again from the amended log, so that all reports say the same as the exit code.
        log = amend_log(log, fault="; ".join(failing))
        report = build_report(log)
        # A code that already says more, such as an interruption, stays.
        code = EXIT_FAILED if code == EXIT_PASSED else code
    return log, report, code
