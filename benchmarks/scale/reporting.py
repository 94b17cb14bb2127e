"""``python -m benchmarks.scale.reporting FORMAT LOG``: write one report of a log, as a run does."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.reports.build import build_report
from harness.reports.writers import ReportRequest, write_report
from harness.runlog import read_log


def main() -> None:
    """Write it beside the log."""
    name, path = sys.argv[1:]
    log = read_log(Path(path))
    report = build_report(log)
    if name != "none":
        write_report(ReportRequest(format=name), report, log, {})


if __name__ == "__main__":
    main()
