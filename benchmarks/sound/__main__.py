"""``python -m benchmarks.sound``: probe each sound server with many seeds of data.

Exits with 1 if there is a false alarm: a finding, a note, a call without an answer, or an altered
value that nobody saw.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.sound.subjects import SUBJECTS, Subject
from harness.probing.report import ProbeReport


def alarms(subject: Subject, report: ProbeReport) -> Iterator[str]:
    """Yield everything that the probe of a sound server must not say."""
    for finding in report.findings:
        if not subject.is_true(finding):
            yield f"{finding.problem}: {finding.words} {' '.join(finding.shown)}"
    yield from (f"note: {note}" for note in report.notes)
    yield from (f"no answer: {words}" for words in report.lost)
    yield from (f"says nothing: {call}: {words}" for call, words in report.silent.items())
    yield from (f"{one.name}: {one.fault}" for one in report.altered if one.fault is not None)


def main() -> int:
    """Try as many seeds as were asked for; return 1 if there is an alarm."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sound", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="SUBJECT", help=f"{', '.join(SUBJECTS)}")
    parser.add_argument("--seeds", type=int, default=100, help="how many; default 100")
    parser.add_argument("--first", type=int, default=1, help="the first seed; default 1")
    options = parser.parse_args()
    if unknown := set(options.only) - SUBJECTS.keys():
        parser.error(f"there is no subject named {', '.join(sorted(unknown))}")
    found = 0
    for name in options.only or SUBJECTS:
        subject, began, calls, wrong = SUBJECTS[name], time.monotonic(), 0, 0
        used = time.process_time()
        for seed in range(options.first, options.first + options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                report = subject.probed(seed, Path(folder))
                calls += len(report.report.results)
                for alarm in alarms(subject, report):
                    wrong += 1
                    print(f"{name}, seed {seed}: {alarm}", flush=True)
        found += wrong
        print(
            f"{name}: {options.seeds} seeds, {calls} calls, {wrong} false alarms "
            f"({subject.modes}; {time.monotonic() - began:.0f} s, of which "
            f"{time.process_time() - used:.0f} s of this process)",
            flush=True,
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
