"""``python -m tests.mutations``.

A sample of mistakes in the judging code, and how many of them a test notices.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from random import Random

from tests.mutations import JUDGES
from tests.mutations.equivalent import EQUIVALENT
from tests.mutations.mutants import Mutant, mutants_of
from tests.mutations.trials import Reach, Round, learn_reach, noticed, start

TARGET = 0.95
"""The share of mistakes that has to be noticed."""
_HEAVY = (
    "hypothesis.strategies",
    "anyio._backends._asyncio",
    "mcp",
    "jsonschema",
    "re2",
    "yaml",
    "mpmath",
    "httpx2",
)
"""Imported once and not for each mistake."""


def main() -> int:
    """Draw, run, count; 1 when fewer than `TARGET` were noticed.

    Ctrl-C ends it with the figure so far.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--sample", type=int, default=300, help="mistakes to draw  [default: 300]")
    parser.add_argument("--seed", type=int, default=1, help="which ones  [default: 1]")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only mistakes whose name contains TEXT"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes  [default: 2]")
    parser.add_argument(
        "--reach", type=Path, metavar="FILE", help="where to keep which tests run which code"
    )
    options = parser.parse_args()
    every = [
        mutant
        for pattern in JUDGES
        for path in sorted(Path().glob(pattern))
        for mutant in mutants_of(path)
    ]
    if unknown := EQUIVALENT.keys() - {mutant.name for mutant in every}:
        print("no such mistake:", *sorted(unknown), sep="\n  ")
        return 1
    fitting = [mutant for mutant in every if options.only in mutant.name]
    drawn = Random(options.seed).sample(fitting, min(options.sample, len(fitting)))
    judged = [mutant for mutant in drawn if mutant.name not in EQUIVALENT]
    for name in _HEAVY:
        import_module(name)
    done, caught = 0, 0
    try:
        for mutant, found in _tried(judged, _reach(options.reach), options.jobs):
            done, caught = done + 1, caught + found
            if not found:
                print(f"not noticed ({done} done), line {mutant.line}: {mutant.name}", flush=True)
    except KeyboardInterrupt:  # what was tried is a sample, too: the order is that of the draw
        print(f"stopped after {done} of {len(judged)}")
    share = caught / done if done else 0.0
    print(
        f"{len(drawn)} of {len(every):,} mistakes, drawn with seed {options.seed}, of which "
        f"{len(drawn) - len(judged)} "
        f"are known to change nothing: the tests notice {caught} of {done} others ({share:.1%})"
    )
    return 0 if share >= TARGET else 1


def _reach(kept: Path | None) -> Reach:
    """Return what is kept, or learn it where nothing is kept or the code has changed since."""
    now = _code()
    if kept is not None and kept.exists():
        code, *parts = json.loads(kept.read_text("utf-8"))
        if code == now:
            return Reach(*parts)
    found = learn_reach()
    if kept is not None:
        parts = [now, found.functions, found.seconds, found.properties]
        kept.write_text(json.dumps(parts), "utf-8")
    return found


def _code() -> str:
    """Return a digest of all code: tests are known by the first lines of what they reach."""
    found = sha256()
    for path in sorted((*Path("harness").rglob("*.py"), *Path("tests").rglob("*.py"))):
        found.update(path.read_bytes())
    return found.hexdigest()


def _tried(mutants: Sequence[Mutant], reach: Reach, jobs: int) -> Iterator[tuple[Mutant, bool]]:
    """Yield each mistake with whether a test noticed it, as they end."""
    waiting = deque((mutant, reach.rounds(mutant)) for mutant in mutants)
    running = dict[int, tuple[Mutant, Iterator[Round]]]()
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant, rounds = waiting.popleft()
            running[start(mutant, next(rounds))] = mutant, rounds
        child, status = os.wait()
        mutant, rounds = running.pop(child)
        found = noticed(status)
        if not found and (further := next(rounds, None)):
            running[start(mutant, further)] = mutant, rounds
        else:
            yield mutant, found


if __name__ == "__main__":
    sys.exit(main())
