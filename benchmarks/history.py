"""``python -m benchmarks.history``: a folder of many runs, and one very large log, on the page.

It makes ten thousand small runs (``--runs``) and a log of 200 MB (``--megabytes``), and asks the
page for them over HTTP: lists, filters, the first results of the log, and all of them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from harness.runlog import Footer, Header, LogWriter, TrialLine
from harness.types import Status
from tests.end_to_end.harness_process import Project
from tests.reports.logs import a_log, a_run, a_transcript
from tests.web.support import Page, served

ANSWER = "The order is on its way and arrives tomorrow. " * 400
"""Text of one trial in the large log: about 18,000 characters."""


def many_runs(folder: Path, number: int) -> None:
    """Make ``number`` runs of two cases, one in ten of another suite."""
    for place in range(number):
        day, second = divmod(place, 86_400)
        name = f"202601{day + 1:02}T{second // 3600:02}{second // 60 % 60:02}{second % 60:02}Z-a-b"
        suite = "other" if place % 10 == 0 else "shop"
        ended: Status = "failed" if place % 3 == 0 else "passed"
        a_log(folder / name / "log.jsonl", a_run("a", ended, suite=suite), a_run("b", suite=suite))


def large_run(folder: Path, size: int) -> str:
    """Make a run whose log has ``size`` bytes or more, and return its name."""
    name = "20260301T000000Z-large-run"
    log = folder / name / "log.jsonl"
    said = a_transcript(ANSWER, ANSWER)
    number = size // len(ANSWER) // 4 + 1
    cases = {f"case {place}": "x" for place in range(number)}
    with LogWriter(log) as writer:
        writer.append(
            Header(
                run_id=name,
                started_at="2026-03-01T00:00:00Z",
                harness_version="1",
                planned=number,
                suites={"shop": {"file": "shop.yml", "digest": "x", "cases": cases}},
                models={"m": {}},
                servers={"s": {}},
            )
        )
        for case in cases:
            writer.append(TrialLine(run=a_run(case), transcript=said))
        writer.append(Footer(finished_at="2026-03-01T00:01:00Z", elapsed_s=60.0))
    return name


def took(act: Callable[[], Any]) -> float:
    """Return the milliseconds of ``act``."""
    began = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - began)


def lists(page: Page) -> None:
    """Print the time of lists, first without an index, then with all of them."""

    def ask(query: str) -> dict[str, Any]:
        found: dict[str, Any] = page.client.get(f"/evaluations?{query}").json()
        return found

    def until_all_are_read() -> None:
        while ask("suite=nothing")["unread"]:
            pass

    print(f"    first list, no log read before:        {took(lambda: ask('limit=50')):8.0f} ms")
    print(f"    every log read once, by asking again:  {took(until_all_are_read):8.0f} ms")
    for query in ("limit=50", "suite=other", "model=nobody", "result=failed"):
        best = sorted(took(partial(ask, query)) for _ in range(9))
        print(f"    {query:38} {best[4]:8.0f} ms (median), {best[-1]:.0f} ms (slowest of 9)")


def opened(page: Page, run: str) -> None:
    """Print the time of the first and of all events of ``run``."""
    began = time.perf_counter()
    number, seen = 0, False
    for event in page.events(run):
        number += 1
        if event.name == "test_case_result" and not seen:
            seen = True
            print(f"    first result:  {1000 * (time.perf_counter() - began):8.0f} ms")
    print(f"    all {number:,} events: {time.perf_counter() - began:.1f} s")
    grid = f"/evaluations/{run}/grid"
    print(f"    summary and grid, kept:  {took(lambda: page.client.get(grid)):8.0f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--megabytes", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), {})
        runs = Path(folder, ".harness", "runs")
        many_runs(runs, asked.runs)
        with served(project) as page:
            print(f"{asked.runs:,} runs:")
            lists(page)
        with served(project) as page:
            first = took(lambda: page.client.get("/evaluations?model=nobody"))
            print(f"    first filter of a server anew:         {first:8.0f} ms")
            name = large_run(runs, asked.megabytes * 1_000_000)
            size = (runs / name / "log.jsonl").stat().st_size
            print(f"a log of {size / 1e6:.0f} MB:")
            opened(page, name)


if __name__ == "__main__":
    main()
