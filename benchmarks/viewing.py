"""``python -m benchmarks.viewing``: how long a run of many cases takes to open in a browser.

It makes runs of 10, 1,000, 10,000 and 100,000 cases with two models (``--cases`` names others),
opens each in Chromium as a page of `harness serve` and, up to 10,000 cases, as the HTML report, and
prints the times. The log is read once, and its view kept beside it; later times are without that.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2

from harness.reports.build import build_report
from harness.reports.formats.html_report import write_html
from harness.runlog import Footer, Header, LogWriter, TrialLine, read_log
from harness.types import Status, TrialResult
from tests.browser import Browser, a_browser
from tests.end_to_end.harness_process import Project
from tests.reports.sample_logs import a_conversation, a_run, must_call
from tests.web.support import served

SIZES = (10, 1_000, 10_000, 100_000)
REPORTED = 10_000
"""Cases of the largest run of which a report is written."""
MODELS = ("large", "small")
TOOLS = ("get_order", "list_orders", "get_customer", "refund_order", "search_products")
RESULT = (
    '{"id": 7, "status": "shipped", "items": [{"sku": "A-1", "amount": 2}], "total": 49.9} ' * 6
)
"""One of about 500 characters."""
CELLS = "return document.querySelectorAll('[role=gridcell]').length"
READY = (
    "return document.querySelectorAll('[role=gridcell] .passed').length && "
    "document.getElementById('summary').checkVisibility() && "
    "document.querySelector('.vrate') !== null"
)
SHOWN = "return document.getElementById('shown').textContent"
TYPE = (
    "const at = document.getElementById('search'); at.value = arguments[0]; "
    "at.dispatchEvent(new Event('input'))"
)
SCROLL = """
const grid = document.querySelector('.vgrid');
const times = [];
return new Promise((done) => {
  let last = performance.now();
  const frame = () => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    grid.scrollTop += 400;
    if (times.length <= 120) requestAnimationFrame(frame);
    else { times.sort((a, b) => a - b); done([times.at(-1), times[60]]); }
  };
  requestAnimationFrame(frame);
});
"""
"""Scrolls a screenful at each frame, and tells how long frames took."""


def trials(cases: int) -> Iterator[tuple[TrialResult, Any]]:
    """Yield the trials of both models; one in ten fails, and more of the smaller model."""
    for number in range(cases):
        tool = TOOLS[number % len(TOOLS)]
        for place, model in enumerate(MODELS):
            fails = (number * 7 + place * 3) % (20 if place == 0 else 8) == 0
            called = TOOLS[(number + 1) % len(TOOLS)] if fails else tool
            status: Status = "failed" if fails else "passed"
            run = a_run(
                f"order_{number:06}",
                status,
                model=model,
                checks=(
                    must_call(
                        tool, called, explanation=f"Expected call not found: {tool}(id={number})"
                    ),
                ),
                tags=("orders", "refunds") if number % 3 else ("smoke",),
                latency_s=0.4 + number % 17 / 10,
            )
            said = a_conversation(
                called,
                prompt=f"Where is order {number}, and what was paid for it?",
                answer=f"Order {number} was shipped and cost $49.90.",
                arguments={"id": number, "with_items": True},
                result=RESULT,
            )
            yield run, said


def large_run(runs: Path, cases: int) -> str:
    """Write the log of a run of ``cases`` cases with two models, and return its name."""
    name = f"20260301T{cases:06}Z-shop-viewing"
    with LogWriter(runs / name / "log.jsonl") as writer:
        writer.append(
            Header(
                run_id=name,
                started_at="2026-03-01T00:00:00Z",
                harness_version="1",
                planned=cases * len(MODELS),
                suites={
                    "shop": {
                        "file": "shop.yml",
                        "digest": "x",
                        "cases": {f"order_{number:06}": "x" for number in range(cases)},
                    }
                },
                models={model: {"provider": "openai", "model_id": model} for model in MODELS},
                servers={"s": {}},
            )
        )
        for run, said in trials(cases):
            writer.append(TrialLine(run=run, transcript=said))
        writer.append(Footer(finished_at="2026-03-01T00:10:00Z", elapsed_s=600.0))
    return name


def report(browser: Browser, folder: Path, log: Path) -> None:
    """Write the report of ``log``, open it, and print what that takes."""
    page = folder / "report.html"
    began = time.perf_counter()
    with page.open("w", encoding="utf-8") as stream:
        read = read_log(log)
        write_html(build_report(read), read, stream)
    written = time.perf_counter() - began
    began = time.perf_counter()
    browser.open(page.as_uri())
    browser.until(lambda: browser.run(CELLS))
    opened = time.perf_counter() - began
    size = page.stat().st_size / 1e6
    print(f"    report of {size:.1f} MB: written in {written:.1f} s, shown in {opened:.1f} s")
    page.unlink()


def seconds(act: Callable[[], Any]) -> float:
    """Return the seconds of ``act``."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def page(browser: Browser, served_at: str, run: str) -> None:
    """Open ``run`` on the page, search it, scroll it, open a trace, and print what that takes."""

    def whole() -> None:
        browser.open(f"{served_at}/evaluation?run={run}")
        browser.until(lambda: browser.run(READY))

    def search() -> None:
        browser.run(TYPE, '"order 7,"')
        browser.until(lambda: browser.run(SHOWN).startswith("1 test of"))

    def trace() -> None:
        browser.run("document.querySelector('[role=gridcell]').click()")
        browser.until(lambda: browser.run("return document.querySelector('.trace .timeline')"))

    def read() -> None:
        httpx2.get(f"{served_at}/evaluations/{run}/grid?whole=1", timeout=1800).raise_for_status()

    print(f"    the log read, once:      {seconds(read):8.2f} s")
    print(f"    page opened:             {seconds(whole):8.2f} s")
    print(f"    a trace:                 {seconds(trace):8.2f} s")
    print(f"    a search in every text:  {seconds(search):8.2f} s")
    browser.run(TYPE, "")
    browser.until(lambda: " of " not in browser.run(SHOWN))
    slowest, middle = browser.run(SCROLL)
    print(
        f"    a frame of scrolling:    {middle:8.0f} ms (median), {slowest:.0f} ms (slowest of 120)"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, nargs="*", default=SIZES)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as profile,
        a_browser(Path(profile)) as browser,
        served(Project(Path(folder), {})) as server,
    ):
        runs = Path(folder, ".harness", "runs")
        for cases in asked.cases:
            run = large_run(runs, cases)
            log = runs / run / "log.jsonl"
            size = log.stat().st_size / 1e6
            print(f"{cases:,} cases, {cases * len(MODELS):,} trials, a log of {size:.1f} MB:")
            page(browser, server.url, run)
            if cases <= REPORTED:
                report(browser, Path(folder), log)


if __name__ == "__main__":
    main()
