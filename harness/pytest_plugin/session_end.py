"""The end of a session: servers end, parts of several processes become one log, results are shown.

Pytest calls this in every session, so nothing heavy is imported unless a run was opened.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.options import rename_options

if TYPE_CHECKING:
    from harness.pytest_plugin.session_run import PytestRun

BENCH: pytest.StashKey[PytestRun] = pytest.StashKey()
"""Key of the run that the tests of a process share, once a suite was found."""
PARTS = "harness_parts"
"""Key, for a pytest-xdist worker, of the folder in which each worker writes its part of the log."""
_NOTES = "harness_notes"
_TOLD = "harness_told_failed"
_ENDING: pytest.StashKey[SessionSummary] = pytest.StashKey()


@dataclass(slots=True)
class SessionSummary:
    """The data that the reporting process shows after all tests."""

    parts: Path | None = None
    """Folder of the pytest-xdist workers' parts of the log."""
    log: Path | None = None
    """The log, if a case was run."""
    notes: dict[str, None] = field(default_factory=dict)
    """Sentences for the user, each once: the default model that is used because none was named."""
    told_failed: set[tuple[str, str, str]] = field(default_factory=set)
    """Suite, case and model of each test that was reported to pytest as failed."""
    lines: list[str] = field(default_factory=list)
    """The report on the log."""


def get_summary(config: pytest.Config) -> SessionSummary:
    """Return what will be shown at the end."""
    return config.stash.setdefault(_ENDING, SessionSummary())


def hand_over(node: Any) -> None:
    """Tell a pytest-xdist worker where to write its part of the log."""
    from harness.runlog import RUNS, new_run_id

    ending = get_summary(node.config)
    if ending.parts is None:
        ending.parts = node.config.invocation_params.dir / RUNS / new_run_id(["pytest"])
    node.workerinput[PARTS] = str(ending.parts)


def store_worker_output(node: Any) -> None:
    """Store the results that a pytest-xdist worker reports as it ends."""
    ending, output = get_summary(node.config), getattr(node, "workeroutput", {})
    ending.notes.update(dict.fromkeys(output.get(_NOTES, ())))
    ending.told_failed.update(map(tuple, output.get(_TOLD, ())))


def finish_session(session: pytest.Session, exitstatus: int) -> None:
    """Close the run of this process.

    The reporting process joins all parts into one log, and reads it.
    """
    config, bench = session.config, session.config.stash.get(BENCH, None)
    if bench is not None:
        interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
        try:
            bench.close(interrupted=interrupted, stopped=bool(session.shouldfail))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take pytest's own results with it
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
            fault = f"a fault in harness itself: {type(error).__name__}: {error}"
            get_summary(config).lines.append(fault)
    has_log = bench is not None and bench.log is not None
    # A worker of pytest-xdist tells nothing itself: its part of the log is joined with others.
    if hasattr(config, "workeroutput"):
        if bench is not None and has_log:
            config.workeroutput[_NOTES] = list(bench.notes)
            config.workeroutput[_TOLD] = [list(names) for names in bench.told_failed]
        return
    ending = get_summary(config)
    if bench is not None and has_log:
        ending.log = bench.log
        ending.notes.update(dict.fromkeys(bench.notes))
        ending.told_failed.update(bench.told_failed)
    elif ending.parts is not None:
        _join_parts(ending, ending.parts)
    if (
        # Any other status already says that something is wrong, and is pytest's own.
        ending.log is not None
        and not _read_report(ending, ending.log)
        and exitstatus == pytest.ExitCode.OK
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _join_parts(ending: SessionSummary, folder: Path) -> None:
    """Join the parts into one log and remove them; parts that cannot be joined are kept."""
    parts = sorted(folder.glob("*/log.jsonl"))
    if not parts:
        return
    from harness.base import HarnessError
    from harness.runlog import read_log
    from harness.runner import merge_logs

    try:
        # Several workers may have run the same test: each time is a further trial of its case.
        logs = [read_log(part) for part in parts]
        ending.log = merge_logs(logs, folder / "log.jsonl", repeated=True).path
    except HarnessError as error:
        ending.lines.append(f"the parts of the log in {folder} could not be joined: {error}")
        return
    for part in parts:
        shutil.rmtree(part.parent)


def _read_report(ending: SessionSummary, path: Path) -> bool:
    """Read the log and keep its report.

    Return whether pytest already knows every failure in it.
    """
    from harness.base import HarnessError, format_count, format_path
    from harness.pytest_plugin.failure_text import failed_later, format_totals
    from harness.reports import build_report, keep_store
    from harness.runlog import read_log

    try:
        log = read_log(path)
        report = build_report(log)
    except HarnessError as error:
        ending.lines.append(str(error))
        return False
    late = list(failed_later(report, ending.told_failed))
    unrun = sum(case.deciding_trial.skip_reason == "budget" for case in report.cases)
    ending.lines += [*late, *format_totals(report)]
    if unrun:
        not_run = format_count(unrun, "case")
        ending.lines.append(f"not run: {not_run} (budget); the exit code says so")
    ending.lines.append(f"log {format_path(path)}")
    ending.lines.append(f"Every message and call: harness view {report.run_id}")
    keep_store(log, report)
    return not late and not unrun


def print_summary(reporter: Any, config: pytest.Config) -> None:
    """Print it all on pytest's terminal."""
    ending = get_summary(config)
    if ending.lines:
        reporter.section("harness", sep="-")
        for line in (*ending.notes, *ending.lines):
            reporter.write_line(rename_options(line))
