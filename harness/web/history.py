"""Past runs, read from their logs and cached until the file changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.reports.build import build_report
from harness.reports.sections.run_list import PastRun, past_runs
from harness.runlog import RunLog, being_written, read_log
from harness.runner.runs.folders import log_path, run_ids
from harness.web.results import clean, name_of, summary, was_cancelled
from harness.workbench.staging import SETTING

MOST = 500
"""Most runs in one request."""
_REMEMBERED = 2_000


def entries(
    runs: Path, keep: Callable[[dict[str, Any]], bool], limit: int
) -> tuple[list[dict[str, Any]], int]:
    """Return the newest ``limit`` runs that ``keep`` accepts, and the number of all such runs."""
    known = run_ids(runs)
    found: list[dict[str, Any]] = []
    for run_id in reversed(known):
        if len(found) >= limit:
            break
        entry = _entry_of(log_path(run_id, runs))
        if entry is not None and keep(entry):
            found.append(entry)
    return found, len(known)


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


def state_of(log: RunLog) -> str:
    """Return ``running``, or ``finished`` for a run that has ended or was killed."""
    return "running" if log.footer is None and being_written(log.path) else "finished"


def _entry_of(path: Path) -> dict[str, Any] | None:
    try:
        facts = path.stat()
        if facts.st_size == 0:
            return None
        entry = _entry(path, facts.st_mtime_ns, facts.st_size)
        state = "running" if entry.get("open") and being_written(path) else "finished"
    except FileNotFoundError:
        return None
    return {**entry, "state": state}


@lru_cache(maxsize=_REMEMBERED)
def _entry(path: Path, _changed: int, _size: int) -> dict[str, Any]:
    (past,) = past_runs([path])
    if not isinstance(past, PastRun):
        return {
            "id": path.parent.name,
            "error": clean(past.error),
            "suites": [],
            "models": [],
            "result": "unreadable",
        }
    log = read_log(path)
    whole = summary(log)
    return {
        "id": path.parent.name,
        "started_at": past.started_at,
        "suites": [name_of(name) for name in past.suites],
        "models": [name_of(name) for name in past.models],
        "workbench": SETTING in log.header.settings,
        "by_suite": _by_suite(log),
        "result": _result(past.result, cancelled=was_cancelled(log)),
        "reason": past.reason,
        "open": log.footer is None,
        **{
            key: whole[key]
            for key in ("counts", "pass_rate", "pass_rate_interval", "band", "averages")
        },
        "seconds": past.elapsed_s,
        "cost_usd": past.cost_usd,
    }


def _result(words: str, *, cancelled: bool) -> str:
    return words.replace("(interrupted)", "(by hand)") if cancelled else words


def _by_suite(log: RunLog) -> list[dict[str, Any]]:
    """Return passed and judged trials of each suite and model, for the trend."""
    found: dict[tuple[str, str], list[bool]] = {}
    for result in build_report(log).results:
        if result.status in {"passed", "failed"}:
            found.setdefault((result.suite, result.model), []).append(result.status == "passed")
    return [
        {"suite": name_of(suite), "model": name_of(model), "passed": sum(ends), "judged": len(ends)}
        for (suite, model), ends in found.items()
    ]
