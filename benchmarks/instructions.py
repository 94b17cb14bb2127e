"""The instructions that a start, cases and a probe take, compared with those that are kept.

``python -m benchmarks.instructions`` fails if one takes over a tenth more than
``instructions.json`` says; ``--keep`` writes that file anew. Seconds depend on what else the
machine does, instructions hardly. They are counted by ``valgrind``, in the process of harness
alone: servers and the fake provider run beside it.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.provider import provider
from benchmarks.workload import Workload

KEPT = Path(__file__).with_suffix(".json")
MARGIN = 0.1
"""What a count may be above the kept one, as a share: an upgrade of Python's patch release stays
below it, a library that is loaded by mistake does not."""

FURTHER = 100
_COMPLETE = (0, 4)
"""Exit codes of what did all its work; a probe with a budget says that it left calls out."""
_PATIENT = ("--start-timeout", "600")
"""What is counted is slow, and so is its server on a busy machine."""
_PROBE = (
    *("probe", "access_matrix", "--named-only", "--no-interference"),
    *("--max-calls", "50", *_PATIENT),
)
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
    if result.returncode not in _COMPLETE or found is None:
        said = (result.stdout + result.stderr)[-2000:]
        raise RuntimeError(f"harness {' '.join(arguments)}: exit {result.returncode}\n{said}")
    return int(found[1].replace(",", ""))


def _make_environment(folder: Path) -> dict[str, str]:
    # The same hashes in each run, and neither keys nor settings of the user.
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONHASHSEED": "0",
        "BENCH_KEY": "test-key",
    }


def count_all() -> dict[str, int]:
    """Return the counts of everything that is kept, by what is done."""
    cases = ("evals", "bench", "--concurrency", "1", "-q", *_PATIENT)
    with tempfile.TemporaryDirectory(prefix="harness-instructions-") as top, provider() as url:
        commands = {
            "harness --help": (("--help",), _make_folder(top, "help")),
            "harness evals --help": (("evals", "--help"), _make_folder(top, "evals")),
            "one case": (cases, _make_folder(top, "one", url, 1)),
            "many cases": (cases, _make_folder(top, "many", url, 1 + FURTHER)),
            "harness probe": (_PROBE, _make_folder(top, "probe")),
        }
        for name, (arguments, folder) in commands.items():
            if name != "many cases":
                _run_once(arguments, folder)
        # Two at a time: servers and the provider wait for what is counted.
        with ThreadPoolExecutor(2) as pool:
            running = {
                name: pool.submit(count_instructions, *command)
                for name, command in reversed(commands.items())
            }
        counts = {name: running[name].result() for name in commands}
    many = counts.pop("many cases")
    return counts | {f"{FURTHER} further cases": many - counts["one case"]}


def _make_folder(top: str, name: str, url: str = "", cases: int = 0) -> Path:
    folder = Path(top, name)
    folder.mkdir()
    if cases:
        Workload(folder=folder, url=url, cases=cases).write()
    return folder


def _run_once(arguments: Sequence[str], folder: Path) -> None:
    """Run it before it is counted, so that no module is compiled then."""
    command = [sys.executable, _HARNESS, *arguments]
    subprocess.run(
        command, cwd=folder, env=_make_environment(folder), capture_output=True, check=False
    )


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
