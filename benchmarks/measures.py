"""The measurements: each function runs one benchmark and returns the result and the target."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.fit import fit
from benchmarks.process import Measured, run
from benchmarks.provider import provider
from benchmarks.workload import CONCURRENCY, TURNS, Workload

CASES = 1_000
LATENCY_MS = 200
SIZES = (100, 300, 1_000, 3_000, 10_000)
RESULT_BYTES = 6_000
"""Length of a tool result that makes a transcript of 20 kB: it is stored as text, as structured
content and as sent to the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One figure and its target."""

    figure: str
    """The measured value, in words."""
    target: str
    """The target, in words."""
    holds: bool
    """Whether the target is met."""
    details: tuple[str, ...] = ()
    """How the figure was measured."""


def cpu(rounds: int) -> Finding:
    """Compare the CPU of the harness with that of the loop by hand, without latency."""
    with provider() as url, _workload(url, CASES) as work:
        pairs = [(work.harness(), work.by_hand()) for _ in range(rounds)]
    ratio = median(ours.cpu_s / theirs.cpu_s for ours, theirs in pairs)
    return Finding(
        figure=f"CPU of {CASES:,} cases at 0 ms: {ratio:.2f} × the loop by hand",
        target="1.15 ×",
        holds=ratio <= 1.15,  # noqa: PLR2004 - the target
        details=tuple(_compared(pairs)),
    )


def wall(rounds: int) -> Finding:
    """Compare the wall time at a real model's latency with the time of the model alone."""
    with (
        provider(latency_ms=LATENCY_MS) as url,
        _workload(url, CASES) as many,
        _workload(url, 1) as one,
    ):
        replies_s = TURNS * LATENCY_MS / 1000
        took = [
            (many.harness(), one.harness(), many.by_hand(), one.by_hand()) for _ in range(rounds)
        ]
    ideal = CASES * replies_s / CONCURRENCY
    ratios = [(ours.wall_s - own_one.wall_s + replies_s) / ideal for ours, own_one, _, _ in took]
    by_hand = [
        (theirs.wall_s - their_one.wall_s + replies_s) / ideal for _, _, theirs, their_one in took
    ]
    return Finding(
        figure=f"wall time of {CASES:,} cases at {LATENCY_MS} ms, start-up aside: "
        f"{median(ratios):.3f} × the model's",
        target="1.05 ×",
        holds=median(ratios) <= 1.05,  # noqa: PLR2004 - the target
        details=(
            f"the model alone {ideal:.2f} s; the loop by hand {median(by_hand):.3f} × of it",
            "start-up is a run of one case without its two replies",
            *(
                f"harness {ours.wall_s:.2f} s, of which start-up {own_one.wall_s - replies_s:.2f} "
                f"s; by hand {theirs.wall_s:.2f} s, of which start-up "
                f"{their_one.wall_s - replies_s:.2f} s"
                for ours, own_one, theirs, their_one in took
            ),
        ),
    )


def one_case(rounds: int) -> Finding:
    """Compare the wall time of a single case, which is nearly all start-up."""
    with provider() as url, _workload(url, 1) as work:
        pairs = [(work.harness(), work.by_hand()) for _ in range(2 * rounds)]
    ratio = median(ours.wall_s / theirs.wall_s for ours, theirs in pairs)
    return Finding(
        figure=f"wall time of one case: {ratio:.2f} × the loop by hand",
        target="1 ×",
        holds=ratio <= 1,
        details=tuple(_compared(pairs)),
    )


def help_text(rounds: int) -> Finding:
    """Time ``harness --help``."""
    command = [str(Path(sys.executable).with_name("harness")), "--help"]
    with TemporaryDirectory() as folder:
        times = [run(command, Path(folder)).wall_s for _ in range(4 * rounds)]
    return Finding(
        figure=f"harness --help: {1000 * median(times):.0f} ms",
        target="150 ms",
        holds=median(times) < 0.15,  # noqa: PLR2004 - the target
        details=(
            (
                f"fastest {1000 * min(times):.0f} ms, slowest {1000 * max(times):.0f} ms of "
                f"{len(times)}"
            ),
        ),
    )


def growth(rounds: int) -> Finding:
    """Fit a line through the CPU of small and large suites."""
    points: list[tuple[int, float]] = []
    logs: list[str] = []
    with provider() as url:
        for cases in SIZES:
            with _workload(url, cases) as work:
                # small suites run more often, so that one disturbance does not bend the line
                points.append(
                    (
                        cases,
                        min(work.harness().cpu_s for _ in range(rounds if cases <= CASES else 1)),
                    )
                )
                logs.append(f"{work.log_bytes() / cases:,.0f}")
    line = fit(points)
    return Finding(
        figure=f"CPU from {SIZES[0]} to {SIZES[-1]:,} cases: {line.worst:.0%} from a straight line "
        "at most",
        target="20 %",
        holds=line.worst <= 0.2,  # noqa: PLR2004 - the target
        details=(
            f"{line.intercept:.2f} s + {1000 * line.slope:.2f} ms a case",
            *line.plot("s"),
            f"bytes of log a case: {', '.join(logs)}",
        ),
    )


def memory(_rounds: int) -> Finding:
    """Return the peak memory of a large run with long transcripts, including its JSON document."""
    with (
        provider(script="benchmarks.provider:terse") as url,
        _workload(url, SIZES[-1], RESULT_BYTES) as work,
    ):
        took = work.harness("--json-output", "--report", "report.jsonl")
        transcript = work.log_bytes() / SIZES[-1]
    return Finding(
        figure=f"memory of {SIZES[-1]:,} cases with transcripts of {transcript / 1000:.0f} kB: "
        f"{took.peak_mb:.0f} MB",
        target="300 MB",
        holds=took.peak_mb < 300,  # noqa: PLR2004 - the target
        details=(f"{took.wall_s:.0f} s of wall time, {took.cpu_s:.0f} s of CPU",),
    )


MEASURES: Mapping[str, Callable[[int], Finding]] = {
    "cpu": cpu,
    "wall": wall,
    "one-case": one_case,
    "help": help_text,
    "growth": growth,
    "memory": memory,
}
"""Name → benchmark."""


@contextmanager
def _workload(url: str, cases: int, result_bytes: int = 0) -> Iterator[Workload]:
    with TemporaryDirectory() as folder:
        work = Workload(folder=Path(folder), url=url, cases=cases, result_bytes=result_bytes)
        work.write()
        yield work


def _compared(pairs: Iterable[tuple[Measured, Measured]]) -> Iterator[str]:
    for ours, theirs in pairs:
        yield (
            f"harness {ours.cpu_s:.2f} s CPU, {ours.wall_s:.2f} s wall, {ours.peak_mb:.0f} MB;"
            f" by hand {theirs.cpu_s:.2f} s CPU, {theirs.wall_s:.2f} s wall, "
            f"{theirs.peak_mb:.0f} MB"
        )
