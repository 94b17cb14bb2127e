"""Where runs are kept, and how a user names one."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import UsageError, did_you_mean

RUNS = Path(".harness/runs")
"""Below the working directory; one folder a run, whose name sorts by time."""
LATEST = "latest"
"""Stands for the newest run."""


_SECOND = len("20261121T191433Z")


def log_path(run_id: str, runs: Path = RUNS) -> Path:
    """Return where the log of that run is."""
    return runs / run_id / "log.jsonl"


def find_log(name: str, runs: Path = RUNS) -> Path:
    """Return the log that a user means by a run's name, the start of one, a path, or ``latest``.

    Raises:
        UsageError: there is none, or the name fits several.
    """
    path = Path(name)
    for candidate in (path, path / "log.jsonl"):
        if candidate.is_file():
            return candidate
    known = run_ids(runs)
    if not known:
        raise UsageError(f"there is no run named {name!r}: {runs} holds none yet")
    if name == LATEST:
        begun = next(
            (run_id for run_id in reversed(known) if has_header(log_path(run_id, runs))), None
        )
        if begun is None:
            raise UsageError(f"there is no latest run: {runs} holds none that has begun")
        return log_path(begun, runs)
    fitting = [run_id for run_id in known if run_id == name] or [
        run_id for run_id in known if run_id.startswith(name)
    ]
    if len(fitting) == 1:
        return log_path(fitting[0], runs)
    if fitting:
        raise UsageError(f"{name!r} fits {len(fitting)} runs: {', '.join(fitting)}")
    raise UsageError(
        f"there is no run named {name!r}",
        meant=did_you_mean(name, known) or f"The latest is {known[-1]}.",
    )


def resume_command(run_id: str) -> str:
    """Return the command that runs what the run of that name left undone."""
    return f"harness evals --resume {run_id}"


def run_ids(runs: Path = RUNS) -> list[str]:
    """Return the names of all runs that have a log, the oldest first; one with an empty log never began."""
    logs = {
        path.parent.name: facts
        for path in runs.glob("*/log.jsonl")
        if (facts := _facts(path)) is not None
    }
    # Names tell the second; of two runs in one second, the log that was written to last is the
    # later one.
    return sorted(logs, key=lambda name: (name[:_SECOND], logs[name].st_mtime_ns, name))


def has_header(path: Path) -> bool:
    """Return whether the log has its first line, which a full disk or a kill may have kept from it."""
    try:
        with path.open("rb") as file:
            return file.readline().endswith(b"\n")
    except OSError:
        return False


def _facts(path: Path) -> os.stat_result | None:
    try:
        facts = path.stat()
    except OSError:  # removed since it was listed
        return None
    return facts if facts.st_size else None


def new_run_id(suites: Sequence[str]) -> str:
    """Return ``<time>-<suite>-<id>``: sorts by time, says what it was, and never collides."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", suites[0])[:40] if suites else "nothing"
    more = f"+{len(suites) - 1}" if len(suites) > 1 else ""
    return f"{now}-{name}{more}-{secrets.token_hex(3)}"
