"""Past runs, read from their logs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base import InvalidInput
from harness.descriptions import SETTING
from harness.judging import NO_TRIAL
from harness.reports import build_report, past_run
from harness.runlog import RunLog, being_written, read_log
from harness.runner import log_path
from harness.types import Report, TrialResult
from harness.web.results import build_summary, clean_json, clean_name, was_cancelled

MOST = 500
"""Most runs in one request."""


def find_run(run_id: str, runs: Path) -> Path | None:
    """Return the log of exactly that run; names with a path are unknown."""
    plain = (
        bool(run_id)
        and "/" not in run_id
        and "\\" not in run_id
        and "\0" not in run_id
        and run_id[0] != "."
    )
    path = log_path(run_id, runs)
    try:
        return path if plain and has_begun(path) else None
    except (OSError, ValueError):  # too long, or in no encoding: no file has such a name
        return None


def has_begun(path: Path) -> bool:
    """Return whether the log has a header, which is written shortly after the file is created."""
    return path.is_file() and path.stat().st_size > 0


def get_state(log: RunLog) -> str:
    """Return ``running``, or ``finished`` for a run that has ended or was killed."""
    return "running" if log.footer is None and being_written(log.path) else "finished"


def read_entry(path: Path, go_on: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Return what the list of runs says of the log at ``path``, all but its state.

    ``go_on`` is called after each line; what it raises ends the reading.

    Raises:
        FileNotFoundError: it is gone.
    """
    try:
        log = read_log(path, lambda _: go_on())
    # It is an `OSError`, too, and must not become an entry of a run that is no longer there.
    except FileNotFoundError:
        raise
    except (InvalidInput, OSError) as error:
        return {
            "id": path.parent.name,
            "error": clean_json(str(error)),
            "suites": [],
            "models": [],
            "result": "unreadable",
        }
    return build_entry(log, build_report(log))


def build_entry(log: RunLog, report: Report) -> dict[str, Any]:
    """Return what the list of runs says of ``log``, all but its state."""
    past = past_run(report)
    whole = build_summary(log, report)
    return {
        "id": log.path.parent.name,
        "started_at": past.started_at,
        "suites": [clean_name(name) for name in past.suites],
        "models": [clean_name(name) for name in past.models],
        "workbench": SETTING in log.header.settings,
        "by_suite": _group_by_suite(report),
        "result": _format_result(past.result, cancelled=was_cancelled(log)),
        "reason": past.reason,
        "open": log.footer is None,
        **{
            key: whole[key]
            for key in (
                "counts",
                "pass_rate",
                "pass_rate_interval",
                "band",
                "averages",
                "groups",
            )
        },
        "seconds": past.elapsed_s,
        "cost_usd": past.cost_usd,
    }


def _format_result(words: str, *, cancelled: bool) -> str:
    return words.replace("(interrupted)", "(by hand)") if cancelled else words


@dataclass(slots=True)
class _PassCount:
    """The trials with a verdict of one suite and model."""

    trials: int = 0
    passed: int = 0
    cases: set[str] = field(default_factory=set)

    def add_result(self, result: TrialResult) -> None:
        self.trials += 1
        self.passed += result.status == "passed"
        self.cases.add(result.case.name)


def _group_by_suite(report: Report) -> list[dict[str, Any]]:
    """Return passed and judged trials of each suite and model, for the trend.

    ``asked`` is equal for runs of the same cases, ``cases`` their number, and ``with_verdict`` how
    many of them have one: a run of eight cases in a hundred is not plotted beside full ones.
    """
    found: dict[tuple[str, str], _PassCount] = {}
    for result in report.results:
        # The entry for the run as a whole is no trial, and has no part in a rate.
        if result.status in {"passed", "failed"} and result.trial != NO_TRIAL:
            found.setdefault((result.suite, result.entrant), _PassCount()).add_result(result)
    parts = []
    for (suite, model), judged in found.items():
        with_verdict = judged.cases
        # Sorted: the same cases in another order ask nothing else.
        cases = sorted({*report.suites.get(suite, {}).get("cases", ()), *with_verdict})
        parts.append(
            {
                "suite": clean_name(suite),
                "model": clean_name(model),
                "passed": judged.passed,
                "judged": judged.trials,
                "asked": hashlib.sha256("\0".join(cases).encode()).hexdigest()[:16],
                "cases": len(cases),
                "with_verdict": len(with_verdict),
            }
        )
    return parts
