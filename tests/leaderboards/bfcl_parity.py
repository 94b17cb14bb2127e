"""``python -m tests.leaderboards.bfcl_parity RECORDED``.

Do our verdicts equal the official ones, case by case?

RECORDED holds lines ``{"model", "category", "id", "result", "valid", "error_type"}``, gzipped or
not: what models said, and what the official checker made of it. Every line goes the way of
``harness evals bfcl --model recorded:RECORDED``, and is read back from the run log.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.runlog import RunLog
from tests.leaderboards.replay import replayed


@dataclass
class Tally:
    """How the lines of one category compare."""

    lines: int = 0
    valid: int = 0
    """Of them, those with the official verdict *valid*."""
    verdicts: int = 0
    """Equal verdicts."""
    error_types: int = 0
    """Equal verdicts with equal error types."""
    different: list[str] = field(default_factory=list)


def compare(recorded: Path, log: RunLog) -> dict[str, Tally]:
    """Return a tally for each category."""
    ours = {(run.model.partition("#")[2], run.case.name): run for run in log.results}
    tallies = {name: Tally() for name in CATEGORIES}
    for line in lines(recorded):
        tally = tallies[line["category"]]
        run = ours[line["model"] if (line["model"], line["id"]) in ours else "", line["id"]]
        found = {"passed": True, "failed": False}.get(run.status)
        code = next((check.code for check in run.checks if check.code), None)
        tally.lines += 1
        tally.valid += line["valid"]
        tally.verdicts += found == line["valid"]
        tally.error_types += (found, code) == (line["valid"], line["error_type"])
        if (found, code) != (line["valid"], line["error_type"]):
            words = (
                f"{line['model']} {line['id']}: official {line['error_type'] or 'valid'}, "
                f"ours "
                f"{code or run.status}"
            )
            tally.different.append(words)
    return tallies


def lines(recorded: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of ``recorded``."""
    with gzip.open(recorded, "rt") if recorded.suffix == ".gz" else recorded.open() as file:
        yield from (json.loads(line) for line in file)


def table(tallies: dict[str, Tally]) -> str:
    """Return the comparison in Markdown."""
    rows = [
        "| category | outputs | officially valid | equal verdict | equal error type |",
        "|---|--:|--:|--:|--:|",
    ]
    total = Tally()
    for name, tally in tallies.items():
        if tally.lines:
            rows.append(_row(name, tally))
            total.lines += tally.lines
            total.valid += tally.valid
            total.verdicts += tally.verdicts
            total.error_types += tally.error_types
    return "\n".join([*rows, _row("**all**", total)])


def _row(name: str, tally: Tally) -> str:
    return f"| {name} | {tally.lines} | {tally.valid} | {tally.verdicts} | {tally.error_types} |"


def main() -> None:
    """Print the table, and every difference."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    recorded = Path(sys.argv[1]).absolute()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tallies = compare(recorded, replayed("bfcl", recorded, Path(folder)))
    print(table(tallies))
    print(
        f"\n{sum(tally.lines for tally in tallies.values())} outputs in "
        f"{time.perf_counter() - began:.1f} s"
    )
    for tally in tallies.values():
        for words in tally.different:
            print(f"different: {words}")


if __name__ == "__main__":
    main()
