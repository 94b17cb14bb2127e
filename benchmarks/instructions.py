"""The instructions that a start takes, compared with those that are kept.

``python -m benchmarks.instructions`` fails if a command takes over a tenth more
than ``instructions.json`` says; ``--keep`` writes that file anew. Seconds depend on what else the
machine does, instructions hardly. They are counted by ``valgrind``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

KEPT = Path(__file__).with_suffix(".json")
MARGIN = 0.1
"""What a count may be above the kept one, as a share: an upgrade of Python's patch release stays
below it, a library that is loaded by mistake does not."""

COMMANDS = (("--help",), ("evals", "--help"))
_HARNESS = str(Path(sys.executable).with_name("harness"))
_COUNT = re.compile(r"I\s+refs:\s+([\d,]+)")
_VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


def count_instructions(arguments: Sequence[str], folder: Path) -> int:
    """Return how many instructions ``harness ARGUMENTS`` takes in ``folder``.

    Raises:
        RuntimeError: valgrind could not count them, or the command has failed.
    """
    log = folder / "valgrind.txt"
    result = subprocess.run(
        [*_VALGRIND, f"--log-file={log}", sys.executable, _HARNESS, *arguments],
        cwd=folder,
        env=_make_environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    found = _COUNT.search(log.read_text("utf-8")) if log.exists() else None
    if result.returncode != 0 or found is None:
        said = (result.stdout + result.stderr)[-2000:]
        raise RuntimeError(f"harness {' '.join(arguments)}: exit {result.returncode}\n{said}")
    return int(found[1].replace(",", ""))


def _make_environment(folder: Path) -> dict[str, str]:
    # The same hashes in each run, and neither keys nor settings of the user.
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONHASHSEED": "0",
    }


def count_all() -> dict[str, int]:
    """Return the counts of everything that is kept, by command."""
    with tempfile.TemporaryDirectory(prefix="harness-instructions-") as folder:
        for arguments in COMMANDS:  # once before, so that no module is compiled while it is counted
            subprocess.run(
                [sys.executable, _HARNESS, *arguments],
                cwd=folder,
                env=_make_environment(Path(folder)),
                capture_output=True,
                check=True,
            )
        return {
            " ".join(("harness", *arguments)): count_instructions(arguments, Path(folder))
            for arguments in COMMANDS
        }


def find_excess(counts: dict[str, int], kept: dict[str, int]) -> list[str]:
    """Return the names whose count is over a tenth above the kept one, or has none."""
    return [
        name
        for name, count in counts.items()
        if name not in kept or count > kept[name] * (1 + MARGIN)
    ]


def main(arguments: Sequence[str]) -> int:
    """Count, and compare or keep; return the exit code."""
    if shutil.which("valgrind") is None:
        print("NOT MEASURED: valgrind is not here, so no instructions are counted", file=sys.stderr)
        return 0
    python = ".".join(map(str, sys.version_info[:2]))
    counts = count_all()
    if "--keep" in arguments:
        KEPT.write_text(json.dumps({"python": python, "instructions": counts}, indent=2) + "\n")
        return 0
    kept = json.loads(KEPT.read_text("utf-8"))
    excess = find_excess(counts, kept["instructions"])
    for name, count in counts.items():
        before = kept["instructions"].get(name)
        ratio = f"{count / before:.3f} × the kept count" if before else "not kept"
        print(f"{name}: {count / 1e6:,.0f} M instructions, {ratio}")
    if kept["python"] != python:
        print(f"NOT COMPARED: the counts are those of Python {kept['python']}", file=sys.stderr)
        return 0
    if excess:
        print(f"more than {MARGIN:.0%} above the kept count: {', '.join(excess)}", file=sys.stderr)
        print(
            "`make profile` shows where; `make instructions KEEP=--keep` accepts it",
            file=sys.stderr,
        )
    return 1 if excess else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
