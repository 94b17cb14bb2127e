"""Past runs, read from their logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.base import InvalidInput
from harness.reports import build_entry, build_report, build_summary, clean_json
from harness.runlog import RunLog, being_written, read_log
from harness.runner import log_path

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
    report = build_report(log)
    return build_entry(log, report, build_summary(log, report))
