"""One command, run to its end, and its resources without those of its children. Linux only."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_UTIME, _STIME = 11, 12
# Positions in /proc/PID/stat, counted after the command's name, which may contain anything.


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The resources of one run of a command."""

    wall_s: float
    """Seconds from before its start to its end."""
    cpu_s: float
    """User and system time of the process itself, to 10 ms."""
    peak_mb: float
    """Peak resident memory of the process or of a child, whichever is larger."""


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> Measured:
    """Run ``command`` in ``folder`` with ``environment`` added, and measure it.

    Raises:
        RuntimeError: it did not exit with 0; the message has the end of its stderr.
    """
    errors = folder / "stderr.txt"
    with errors.open("wb") as stderr, (folder / "stdout.txt").open("wb") as stdout:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**_usual_environment(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
        # Ended but not reaped: the kernel still accounts for it separately from its
        # children.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall_s = time.perf_counter() - began
        cpu_s = _own_cpu_s(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)} exited with {process.returncode}:\n{errors.read_text()[-2000:]}"
        )
    return Measured(wall_s=wall_s, cpu_s=cpu_s, peak_mb=usage.ru_maxrss / 1024)


def _usual_environment() -> dict[str, str]:
    """Return the environment without the ``PYTHON…`` variables that slow Python down.

    With them, Python may compile modules at every start, which does not happen for users.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") or name == "PYTHONPATH"
    }


def _own_cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[_UTIME]) + int(fields[_STIME])) * _TICK_S
