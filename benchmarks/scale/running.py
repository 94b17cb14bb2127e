"""A large run of cheap trials, watched from outside while it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.provider import provider

HERE = Path(__file__).parents[1]
REPEATS = 10
"""Trials of each case."""
SAMPLES = 10
"""How often the run is looked at, in equal steps of its trials."""
_LOOK_S = 0.2
_TRIAL = b'{"run":'
_MB = 1 << 20

_CASE = """\
  - name: customer_{number}
    prompt: What do we know of customer {number}?
    assertions:
      answer_contains:
        - Done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was seen when so many trials had ended."""

    trials: int
    """Trials in the log."""
    at_s: float
    """Seconds since the first trial was in the log."""
    cpu_s: float
    """User and system time of the driver so far."""
    memory_mb: float
    """Resident memory of the driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run that has ended."""

    log: Path
    """Its log."""
    samples: list[Sample]
    """From the first trial to the last."""
    start_s: float
    """Seconds from the start of the command to the first trial in the log."""
    end_s: float
    """Seconds from the last trial in the log to the end of the command."""

    @property
    def rate(self) -> float:
        """Trials a second, from the first sample to the last."""
        first, last = self.samples[0], self.samples[-1]
        return (last.trials - first.trials) / (last.at_s - first.at_s)

    @property
    def growth_mb(self) -> float:
        """Memory of the driver at the last sample less that at the second."""
        return self.samples[-1].memory_mb - self.samples[1].memory_mb


def write_project(folder: Path, url: str, trials: int) -> None:
    """Write a suite of ``trials`` trials, each of one reply of the provider at ``url``."""
    (folder / "evals").mkdir(parents=True, exist_ok=True)
    server = {"command": sys.executable, "args": [str(HERE / "server.py"), "0"]}
    head = f"suite: scale\nmodel: fake\nserver: {json.dumps(server)}\ntests:\n"
    cases = "".join(_CASE.format(number=number) for number in range(trials // REPEATS))
    (folder / "evals" / "scale.yml").write_text(head + cases, "utf-8")
    model = {"type": "openai", "model": "gpt-4o", "base_url": f"{url}/v1", "api_key": "${KEY}"}
    configuration = {"models": {"models": {"fake": model}}}
    (folder / "harness.yml").write_text(json.dumps(configuration), "utf-8")


def run(folder: Path, trials: int, *options: str, latency_ms: int = 0) -> Ran:
    """Run so many trials below ``folder``, as a user does, and look at them as they end."""
    with provider(script="benchmarks.provider:brief", latency_ms=latency_ms) as url:
        write_project(folder, url, trials)
        command = [str(Path(sys.executable).with_name("harness")), "evals", "scale"]
        command += ["--trials", str(REPEATS), *options]
        began = time.perf_counter()
        with (
            (folder / "stdout.txt").open("wb") as stdout,
            (folder / "stderr.txt").open("wb") as stderr,
            subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "KEY": "test-key"},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            ) as process,
        ):
            return _watch(process, folder, trials, began)


def _watch(process: subprocess.Popen[bytes], folder: Path, trials: int, began: float) -> Ran:
    samples: list[Sample] = []
    log, first = None, 0.0
    for log, done in _lines(process, folder):  # noqa: B007 - the run's only log
        due = 1 if not samples else trials * len(samples) // SAMPLES
        if done >= due:
            first = first or time.perf_counter()
            samples.append(_sample(process.pid, done, time.perf_counter() - first))
    ended = time.perf_counter()
    if process.wait() or log is None:
        words = (folder / "stderr.txt").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"the run ended with {process.returncode}:\n{words}")
    last = first + samples[-1].at_s
    return Ran(log=log, samples=samples, start_s=first - began, end_s=ended - last)


def _lines(process: subprocess.Popen[bytes], folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the newest log and how many trials are in it, until the process has ended."""
    known = set(folder.glob(".harness/runs/*/log.jsonl"))
    read, done, log = 0, 0, None
    while process.poll() is None:
        time.sleep(_LOOK_S)
        new = set(folder.glob(".harness/runs/*/log.jsonl")) - known if log is None else set()
        log = log or next(iter(new), None)
        if log is None:
            continue
        with log.open("rb") as file:
            file.seek(read)
            for line in file:
                if line.endswith(b"\n"):  # else it is being written
                    read += len(line)
                    done += line.startswith(_TRIAL)
        if done:
            yield log, done


def _sample(pid: int, trials: int, at_s: float) -> Sample:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Sample(
        trials=trials,
        at_s=at_s,
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
        memory_mb=pages * os.sysconf("SC_PAGESIZE") / _MB,
    )
