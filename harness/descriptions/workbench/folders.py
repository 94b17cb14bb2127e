"""The logs of a workbench on disk: one for each stage, and one for the other server of an A/B."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from harness.reports import WORKBENCH
from harness.runlog import RunLog, read_log
from harness.runner import RUNS, has_header, log_path
from harness.types import JsonObject, Tool

MOST_STAGES = 40
"""Most stages, so that every workbench ends."""
OTHER = "b"
"""The stage on another server, after the first stage and before the second."""
OTHER_SETTING = "other"
"""The key, below `WORKBENCH` in a log's settings, under which that stage describes the server."""

Stage: TypeAlias = int | str
"""The number of a stage, from 1, or `OTHER`."""


def stage_id(first: str, stage: Stage) -> str:
    """Return the name of a stage's folder."""
    return first if stage == 1 else f"{first}-{stage}"


def list_stages(*, other: bool) -> list[Stage]:
    """Return every stage that a workbench may have, in order."""
    return [1, *([OTHER] if other else []), *range(2, MOST_STAGES + 1)]


def read_stage_logs(first: str, runs: Path = RUNS) -> list[RunLog]:
    """Return the logs of every stage that has begun, in order."""
    logs = []
    for stage in list_stages(other=True):
        path = log_path(stage_id(first, stage), runs)
        if has_header(path):
            logs.append(read_log(path))
        # Not every workbench has the stage on another server.
        elif stage != OTHER:
            break
    return logs


def logged_other_server(log: RunLog) -> JsonObject | None:
    """Return a log's description of its other server; ``None`` if it has none."""
    settings: Any = log.header.settings.get(WORKBENCH) or {}
    found: JsonObject | None = settings.get(OTHER_SETTING)
    return found


def drop_other_server(logs: Sequence[RunLog]) -> list[RunLog]:
    """Return those of ``logs`` that are of the suite's own server."""
    return [log for log in logs if logged_other_server(log) is None]


def collect_logged_tools(logs: Sequence[RunLog]) -> list[Tool]:
    """Return every tool that was listed for any identity in ``logs``, each once."""
    tools = {
        tool.name: tool for log in logs for listed in log.tools.values() for tool in listed.tools
    }
    return list(tools.values())
