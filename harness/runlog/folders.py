"""Where runs are stored, and how a user names one."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.base import UsageError, did_you_mean

RUNS = Path(".harness/runs")
"""Relative to the working directory; one folder for each run, whose name sorts by time."""
LATEST = "latest"
"""The name of the newest run."""


_SECOND = len("20261121T191433Z")


def log_path(run_id: str, runs: Path = RUNS) -> Path:
    """Return the path of that run's log."""
    return runs / run_id / "log.jsonl"


def find_log(name: str, runs: Path = RUNS) -> Path:
    """Return the log of a run named by its id, the start of it, a path, or ``latest``.

    Raises:
        UsageError: there is none, or the name is ambiguous.
    """
    for candidate in (Path(name), Path(name, "log.jsonl")):
        if candidate.is_file():
            return candidate
    known = run_ids(runs)
    if not known:
        raise UsageError(f"there is no run named {name!r}: there are no runs in {runs}")
    if name == LATEST:
        # A run that never began must not hide the one before it.
        begun = [run_id for run_id in reversed(known) if has_header(log_path(run_id, runs))][:1]
        if not begun:
            raise UsageError(f"there is no latest run: no run in {runs} has a log with a header")
        return log_path(begun[0], runs)
    # A whole name counts first, since it may also begin a longer one.
    fitting = [name] if name in known else [one for one in known if one.startswith(name)]
    if len(fitting) > 1:
        raise UsageError(f"{name!r} fits {len(fitting)} runs: {', '.join(fitting)}")
    if not fitting:
        meant = did_you_mean(name, known) or f"The latest is {known[-1]}."
        raise UsageError(f"there is no run named {name!r}", meant=meant)
    return log_path(fitting[0], runs)


RESUMED_BY = "resumed_by"
"""The setting in a log's header with the command that resumes the run, if not the usual one."""
USUAL_COMMAND = "harness evals"
"""The command that resumes a run."""


RECORDED_SERVER = "recorded_server"
"""The setting in a log's header with ``server:`` of a suite, for the server of a recorded
session."""


def resume_command(run_id: str, settings: Mapping[str, Any] | None = None) -> str:
    """Return the command that resumes the run with these ``settings`` in its header."""
    return f"{(settings or {}).get(RESUMED_BY, USUAL_COMMAND)} --resume {run_id}"


def run_ids(runs: Path = RUNS) -> list[str]:
    """Return the names of all runs with a log that is not empty, the oldest first."""
    return list(list_runs(runs))


def list_runs(runs: Path = RUNS) -> dict[str, os.stat_result]:
    """Return all runs with a log that is not empty, the oldest first, with the facts of its file.

    It calls ``stat`` once for each log: 40 ms for ten thousand.
    """
    logs = {name: facts for name in list_names(runs) if (facts := stat_log(runs, name)) is not None}
    return {name: logs[name] for name in sort_runs(logs)}


def list_names(runs: Path) -> list[str]:
    """Return the names of everything in the folder of runs, in no order."""
    try:
        return [entry.name for entry in os.scandir(runs)]
    except OSError:
        return []


def sort_runs(logs: Mapping[str, os.stat_result]) -> list[str]:
    """Return the names of runs, the oldest first, from the facts of their logs.

    A name contains the second; within one second, the log modified last is the later one.
    """
    return sorted(logs, key=lambda name: (name[:_SECOND], logs[name].st_mtime_ns, name))


def has_header(path: Path) -> bool:
    """Return whether the log has its first line; a full disk or a kill may have prevented it."""
    try:
        with path.open("rb") as file:
            return file.readline().endswith(b"\n")
    except OSError:
        return False


def stat_log(runs: Path, run_id: str) -> os.stat_result | None:
    """Return the facts of that run's log; ``None`` if there is none, or it is empty."""
    try:
        facts = os.stat(f"{runs}/{run_id}/log.jsonl")  # noqa: PTH116 - a path object takes longer
    except OSError:  # removed since it was listed, or not a run
        return None
    # An empty log is one that a full disk or an early end has left.
    return facts if facts.st_size else None


def new_run_id(suites: Sequence[str]) -> str:
    """Return ``<time>-<suite>-<id>``: sorts by time, says what it was, and never collides."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    # Cut, because a suite's name may be longer than a file system takes.
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", suites[0])[:40] if suites else "nothing"
    more = f"+{len(suites) - 1}" if len(suites) > 1 else ""
    # Several machines or processes may start a run of one suite in the same second.
    return f"{now}-{name}{more}-{secrets.token_hex(3)}"
