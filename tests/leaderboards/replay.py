"""Recorded outputs of a leaderboard, judged as ``harness evals LEADERBOARD --model recorded:FILE``
judges them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.runlog import RunLog
from harness.runner.launcher import launch_run
from harness.runner.observer import Observer
from harness.runner.planning.prepare import prepare_plan
from harness.runner.planning.request import RunOptions, RunRequest


def replayed(
    suite: str,
    recorded: Path,
    folder: Path,
    *,
    concurrency: int = 2,
    environ: Mapping[str, str] = os.environ,
) -> RunLog:
    """Return the run log of everything that ``recorded`` has of ``suite``.

    It is written below ``folder``.
    """
    prepared = prepare_plan(
        RunRequest(suites=[suite], models=[f"recorded:{recorded}"]), folder, environ
    )
    return launch_run(
        prepared.plan,
        RunOptions(catch_signals=False, concurrency=concurrency),
        Observer(),
        runs=folder / "runs",
    )
