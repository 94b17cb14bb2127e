"""Past runs at a glance: one row a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, format_money, make_one_line
from harness.judging import exit_code
from harness.reports.build import build_report
from harness.reports.sections.sentences import result_words
from harness.runlog import read_log
from harness.types import Counts, Report

COLUMNS = ("started (UTC)", "suite", "model", "result", "cost", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """The facts of a run as a whole, from its log."""

    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log."""
    started_at: str
    """UTC, ISO 8601."""
    suites: tuple[str, ...]
    """Names of its suites."""
    models: tuple[str, ...]
    """Names of its models."""
    counts: Counts
    """How its trials ended."""
    reason: str
    """Why it ended."""
    exit_code: int
    """The exit code of its process, by the results."""
    cost_usd: float | None
    """Models under test, judges and simulated users together; ``None`` when unknown."""
    elapsed_s: float | None
    """Wall time; ``None`` when it was interrupted."""
    result: str
    """The result in words."""
    damaged: tuple[str, ...] = ()
    """Lines of the log that cannot be read, a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableLog:
    """A log that cannot be read."""

    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log."""
    error: str
    """Why not."""


def past_runs(logs: Iterable[Path]) -> Iterator[PastRun | UnreadableLog]:
    """Yield the facts of each log's run; a damaged log hides no other."""
    for path in logs:
        try:
            yield past_run(build_report(read_log(path)))
        except (InvalidInput, OSError) as error:
            yield UnreadableLog(run_id=path.parent.name, log=str(path), error=str(error))


def format_run_cells(run: PastRun | UnreadableLog) -> tuple[str, ...]:
    """Return a run's cells under `COLUMNS`."""
    if isinstance(run, UnreadableLog):
        return ("", "", "", "unreadable", "", make_one_line(run.run_id))
    started = run.started_at[:16].replace("T", " ")
    names = (_join_few(run.suites), _join_few(run.models), run.result)
    cost, name = format_money(run.cost_usd), make_one_line(run.run_id)
    return (started, *map(make_one_line, names), cost, name)


def encode_run(run: PastRun | UnreadableLog) -> dict[str, Any]:
    """Return a run as JSON."""
    return asdict(run)


def past_run(report: Report) -> PastRun:
    """Return the facts of a run as a whole."""
    return PastRun(
        run_id=report.run_id,
        log=report.log,
        started_at=report.started_at,
        suites=tuple(report.suites),
        models=tuple(report.entrants),
        counts=report.counts,
        reason=report.reason,
        exit_code=exit_code(report),
        cost_usd=(report.usage + report.judge_usage + report.user_usage).cost_usd,
        elapsed_s=report.elapsed_s,
        result=result_words(report),
        damaged=report.damaged,
    )


def _join_few(names: tuple[str, ...]) -> str:
    return names[0] + (f" +{len(names) - 1}" if len(names) > 1 else "") if names else ""
