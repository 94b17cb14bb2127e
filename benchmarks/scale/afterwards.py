"""What is done with the log of a large run: each command's time, and its memory at its highest."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.process import Measured, run

REPORTS = ("none", "json", "jsonl", "csv", "junit", "markdown", "html")
ROOT = Path(__file__).parents[2]
_QUESTION = "select status, count(*) from trials group by status"


def commands(log: Path, reports: Sequence[str] = REPORTS) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands on ``log``, each with its name, in the order in which people use them."""
    harness, name = str(Path(sys.executable).with_name("harness")), log.parent.name
    yield "runs", [harness, "runs"]
    yield "view", [harness, "view", name, "--no-open"]
    for report in reports:
        module = [sys.executable, "-m", "benchmarks.scale.reporting", report, str(log)]
        yield f"report: {report}", module
    yield "compare with itself", [harness, "compare", name, name]
    yield "query, the first", [harness, "query", name, _QUESTION]
    yield "query, the next", [harness, "query", name, _QUESTION]


def measured(
    folder: Path, log: Path, reports: Sequence[str] = REPORTS
) -> Iterator[tuple[str, Measured]]:
    """Yield what each command takes on ``log``, in ``folder``, with its name."""
    for name, command in commands(log, reports):
        yield name, run(command, folder, {"PYTHONPATH": str(ROOT)})
