"""``python -m tests.proofs.sound``: probe each sound server with many seeds of data.

With ``--memory FILE`` a pass that was cut off is taken up where it was left: seeds that the same
code has done are not probed again. Exits with 1 if there is a false alarm: a finding, a note, a
call without an answer, or an altered value that nobody saw.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.probing.report import ProbeReport
from tests.proofs.sound.seeds_done import SeedDone, read, remember, summary, version
from tests.proofs.sound.subjects import SUBJECTS, Subject


def alarms(subject: Subject, report: ProbeReport) -> Iterator[str]:
    """Yield everything that the probe of a sound server must not say."""
    for finding in report.findings:
        if not subject.is_true(finding):
            yield f"{finding.problem}: {finding.words} {' '.join(finding.shown)}"
    yield from (f"note: {note}" for note in report.notes)
    yield from (f"no answer: {words}" for words in report.lost)
    yield from (f"says nothing: {call}: {words}" for call, words in report.silent.items())
    yield from (f"{one.name}: {one.fault}" for one in report.altered if one.fault is not None)


def probed(name: str, seed: int) -> SeedDone:
    """Probe one server with the data of one seed."""
    before = os.times()
    with tempfile.TemporaryDirectory() as folder:
        report = SUBJECTS[name].probed(seed, Path(folder))
    after = os.times()
    return SeedDone(
        version=version(),
        subject=name,
        seed=seed,
        calls=len(report.report.results),
        alarms=tuple(alarms(SUBJECTS[name], report)),
        own_s=after.user + after.system - before.user - before.system,
        servers_s=sum(after[2:4]) - sum(before[2:4]),
    )


def main() -> int:
    """Try as many seeds as were asked for, of one server after the other; return 1 for an alarm."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.sound", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="SUBJECT", help=f"{', '.join(SUBJECTS)}")
    parser.add_argument("--seeds", type=int, default=100, help="how many; default 100")
    parser.add_argument("--first", type=int, default=1, help="the first seed; default 1")
    parser.add_argument("--memory", type=Path, metavar="FILE", help="where seeds are remembered")
    parser.add_argument("--summary", action="store_true", help="only say what the memory holds")
    options = parser.parse_args()
    if unknown := set(options.only) - SUBJECTS.keys():
        parser.error(f"there is no subject named {', '.join(sorted(unknown))}")
    if options.summary and options.memory is None:
        parser.error("--summary needs --memory FILE")
    kept = [*read(options.memory)] if options.memory is not None else []
    known = {(one.subject, one.seed) for one in kept if one.version == version()}
    done = kept if options.summary else []
    for seed in range(options.first, options.first + options.seeds) if not options.summary else ():
        for name in options.only or SUBJECTS:
            if (name, seed) in known:
                continue
            one = probed(name, seed)
            done.append(one)
            if options.memory is not None:
                remember(options.memory, one)
            for alarm in one.alarms:
                print(f"{name}, seed {seed}: {alarm}", flush=True)
    print("\n".join(summary(done)), flush=True)
    return 1 if any(one.alarms for one in done) else 0


if __name__ == "__main__":
    sys.exit(main())
