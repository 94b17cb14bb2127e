"""``python -m benchmarks.scale WHAT``: a run of many trials, measured and simulated.

``run``: carry out many trials and look at the driver meanwhile. ``write``: write the logs of two
such runs without carrying them out. ``afterwards``: what is done with a log. ``services``: how long
each part is busy with a trial. ``simulate``: a run on many workers.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.scale.afterwards import measured
from benchmarks.scale.running import run
from benchmarks.scale.services import Services, driver_parts, limiter_part, lines_of, parcel_sizes
from benchmarks.scale.simulation import Outcome, Setup, simulate
from benchmarks.scale.writing import write

SERVICES = Services(
    dispatch=43e-6, receive=52e-6, record=83e-6, judge=42e-6, call=348e-6, limit=1139e-6
)
"""As measured by ``services``; see docs/performance.md."""
WORK_S = 0.0035
"""What a worker does for one request of a trial."""
ANSWER_S = 2.0
"""What a model takes for one reply."""
REPLIES = 2
"""Replies of a trial."""
SIZES = ((10, 16), (100, 16), (1_000, 1), (1_000, 4), (1_000, 16))
"""Workers, and seats of each."""
SAMPLE = 200_000
"""Trials that are simulated for a row of the table."""


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--cases", type=int, default=10_000, help="of write; default: 10000")
    parser.add_argument("--folder", type=Path, help="where the run is, or is to be")
    parser.add_argument("--options", default="-c 16", help="of harness evals; default: -c 16")
    options = parser.parse_args()
    if options.what in {"afterwards", "services"} and options.folder is None:
        parser.error(f"{options.what} needs the --folder of a run")
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load "
        f"{os.getloadavg()[0]:.1f}",
        flush=True,
    )
    for line in WHAT[options.what](options):
        print(line, flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


def _run(options: argparse.Namespace) -> Iterator[str]:
    folder = options.folder or Path(tempfile.mkdtemp(prefix="harness-scale-"))
    ran = run(folder, options.trials, *options.options.split())
    for one in ran.samples:
        yield (
            f"{one.trials:>9,} trials {one.at_s:7.1f} s {one.cpu_s:7.1f} s of CPU "
            f"{one.memory_mb:7.1f} MB"
        )
    yield f"{ran.rate:.1f} trials/s; memory {ran.growth_mb:+.1f} MB from the second sample on"
    yield f"{ran.start_s:.1f} s before the first trial, {ran.end_s:.1f} s after the last"
    yield f"log {ran.log}: {ran.log.stat().st_size / 1e6:.1f} MB"


def _write(options: argparse.Namespace) -> Iterator[str]:
    folder = options.folder or Path(tempfile.mkdtemp(prefix="harness-scale-"))
    for seed in (0, 1):
        log = write(folder, options.cases, options.trials // options.cases, seed)
        yield f"log {log}: {log.stat().st_size / 1e6:.1f} MB"


def _afterwards(options: argparse.Namespace) -> Iterator[str]:
    log = _log_in(options.folder)
    for name, took in measured(options.folder, log):
        yield (
            f"{name:22} {took.wall_s:8.1f} s {took.cpu_s:8.1f} s of CPU {took.peak_mb:7.0f} MB  "
            f"load {os.getloadavg()[0]:.0f}"
        )


def _services(options: argparse.Namespace) -> Iterator[str]:
    from benchmarks.scale.on_ray import ray_parts  # loads Ray

    lines = lines_of(_log_in(options.folder))
    for name, seconds in driver_parts(lines).items():
        yield f"driver, {name:10} {1e6 * seconds:6.0f} us"
    yield f"limiter, itself    {1e6 * limiter_part():6.0f} us"
    parts = ray_parts(*parcel_sizes(lines))
    yield f"driver, a call     {1e6 * parts.call:6.0f} us"
    yield f"limiter, a slot that is asked for {1e6 * parts.asked:6.0f} us"
    yield f"limiter, a slot for which nobody asks {1e6 * parts.free:6.0f} us"


def _simulate(options: argparse.Namespace) -> Iterator[str]:
    yield f"{'workers':>7} {'seats':>5} {'asked':>5} {'trials/s':>9} {'driver':>7} {'limiter':>7}"
    for asked in (True, False):
        for workers, seats in SIZES:
            found = simulate(setup_of(workers, seats, min(options.trials, SAMPLE), asked=asked))
            yield _row(workers, seats, asked, found)
    for asked in (True, False):
        whole = simulate(setup_of(1_000, 16, options.trials, asked=asked))
        yield (
            f"{options.trials:,} trials on 1,000 workers of 16 seats, the limiter "
            f"{'asked for each request' if asked else 'not asked'}: {whole.elapsed_s / 3600:.2f} "
            f"hours, {whole.rate:.0f} trials/s; the {whole.busiest} is full"
        )


def setup_of(workers: int, seats: int, trials: int, *, asked: bool) -> Setup:
    """Return a run with the measured times; ``asked``: the limiter is asked for each request."""
    one = SERVICES
    return Setup(
        workers=workers,
        seats=seats,
        trials=trials,
        requests=REPLIES,
        answer_s=ANSWER_S,
        hand_out_s=one.dispatch + one.call / 2,
        take_s=one.call / 2 + one.receive + one.record + one.judge,
        work_s=WORK_S,
        limit_s=one.limit if asked else 0.0,
    )


def _row(workers: int, seats: int, asked: bool, found: Outcome) -> str:  # noqa: FBT001 - a cell
    return (
        f"{workers:>7,} {seats:>5} {'each' if asked else 'none':>5} {found.rate:>9.0f} "
        f"{found.driver:>7.0%} {found.limiter:>7.0%}"
    )


def _log_in(folder: Path) -> Path:
    return max(folder.glob(".harness/runs/*/log.jsonl"))


WHAT: Mapping[str, Callable[[argparse.Namespace], Iterator[str]]] = {
    "run": _run,
    "write": _write,
    "afterwards": _afterwards,
    "services": _services,
    "simulate": _simulate,
}
"""Name → what yields the lines of its finding."""

if __name__ == "__main__":
    main()
