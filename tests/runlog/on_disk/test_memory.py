"""The memory that a report takes does not grow with the trials of its run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.runlog import Footer, TrialLine
from harness.runlog.lines import dump_line
from tests.reports.sample_logs import a_conversation, a_log, a_run, must_call

CASES = 20
FEW, MANY = 1_050, 2_100
"""Trials of each case; both runs are larger than what is held in memory."""
MOST_MB = 12
"""In memory, the further 21,000 results would take about 20 MB."""
SCRIPT = """
import sys
from pathlib import Path
from harness.reports.build import build_report
from harness.runlog import read_log
report = build_report(read_log(Path(sys.argv[1])))
(peak,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(sum(len(list(case.trials)) for case in report.cases), int(peak.split()[1]) / 1000)
"""


def a_run_of(folder: Path, trials: int) -> Path:
    """Write the log of a run whose trials differ in their keys, times and tokens."""
    folder.mkdir()
    path = a_log(folder, []).path
    lines = [
        dump_line(
            TrialLine(
                run=a_run(f"case {case}", checks=(must_call("get_order", "get_order"),)),
                transcript=a_conversation("get_order"),
            )
        )
        for case in range(CASES)
    ]
    with path.open("a") as log:
        for index in range(trials):
            for case, line in enumerate(lines):
                key = f'"key":"{index:060}{case:04}'
                unlike = line.replace('"key":"', key, 1).replace(
                    '"trial":1', f'"trial":{index + 1}', 1
                )
                log.write(unlike.replace('"latency_s":', f'"latency_s":1{index}', 1) + "\n")
        log.write(dump_line(Footer(finished_at="2026-01-01T00:00:09Z", elapsed_s=9.0)) + "\n")
    return path


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_it_is_the_same_for_twice_the_trials(tmp_path: Path) -> None:
    peaks = []
    for name, trials in (("few", FEW), ("many", MANY)):
        log = a_run_of(tmp_path / name, trials)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(log)],
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
        number, peak = done.stdout.split()
        assert int(number) == CASES * trials
        peaks.append(float(peak))
    assert peaks[1] - peaks[0] < MOST_MB, peaks
