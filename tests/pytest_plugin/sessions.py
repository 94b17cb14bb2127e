"""`pytest` as a user runs it on suites: a process of its own, in a project of its own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.runlog import RunLog, read_log
from harness.runlog.folders import log_path, run_ids
from tests.end_to_end.harness_process import TIMEOUT_S, Finished, finish
from tests.end_to_end.warm import WarmProcess

ROOT = Path(__file__).parents[2]


def start(folder: Path, *arguments: str, plugins: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start pytest in ``folder``, with no plugins but harness and those that are named."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    wanted = [part for name in plugins for part in ("-p", name)]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # only what is tested; the others cost time
        "COLUMNS": "160",
    }
    return WarmProcess(
        ["-p", "harness.pytest_plugin", *wanted, *arguments], folder, env, program="pytest"
    )


def run(folder: Path, *arguments: str, plugins: Sequence[str] = ()) -> Finished:
    """Run pytest to its end."""
    assert TIMEOUT_S > 0
    return finish(start(folder, *arguments, plugins=plugins))


def outcomes(finished: Finished) -> dict[str, str]:
    """Return test → ``passed``, ``failed``, ``error`` or ``skipped``, from the summary that ``-rA``
    prints.
    """
    found = re.findall(
        r"^(PASSED|FAILED|ERROR|SKIPPED)(?: \[\d+\])? (\S+)", finished.stdout, re.MULTILINE
    )
    return {name.rstrip(":"): word.lower() for word, name in found}


def logs(folder: Path) -> list[RunLog]:
    """Return every log in the project, the oldest first."""
    runs = folder / ".harness" / "runs"
    return [read_log(log_path(run_id, runs)) for run_id in run_ids(runs)]
