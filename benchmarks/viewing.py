"""``python -m benchmarks.viewing``: how long a run of many cases takes to open in a browser.

It makes runs of 10, 1,000, 10,000 and 100,000 cases with two models (``--cases`` names others),
opens each in Chromium as a page of `harness serve` and as the HTML report, and prints the times.

A log of this version gets its view when its run ends; one from elsewhere is read when it
is first opened. ``--reports N`` leaves out the reports of runs with more than N cases, and
``--folder DIR`` keeps the runs, with what is beside their logs, for another time.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from selenium.common.exceptions import TimeoutException

from harness.judging.trial import count_outcomes
from harness.reports.build import build_report
from harness.reports.formats.html_report import write_html
from harness.reports.querying.index import STORE, keep_store
from harness.runlog import Footer, Header, LogWriter, TrialLine, read_log
from harness.sessions.call_record import reduce_frame
from harness.types import Status, ToolCall, TrialResult, Wire
from harness.web.view_builder import MOST_S
from tests.browser import Browser, a_browser
from tests.end_to_end.harness_process import Project
from tests.reports.sample_logs import a_conversation, a_run, must_call
from tests.web.support import served

SIZES = (10, 1_000, 10_000, 100_000)
MODELS = ("large", "small")
TOOLS = ("get_order", "list_orders", "get_customer", "refund_order", "search_products")
RESULT = (
    '{"id": 7, "status": "shipped", "items": [{"sku": "A-1", "amount": 2}], "total": 49.9} ' * 6
)
"""A text of about 500 characters."""
SEARCHES = {
    "every text:": '"order 7,"',
    "frames:": "meta-000007",
    "all of them:": "shipped meta-000007",
}
"""Words that only one case has, in a text and in the frames of a call; the last search must read
every line."""
CELLS = "return document.querySelectorAll('[role=gridcell]').length"
READY = (
    "return document.querySelectorAll('[role=gridcell] .passed').length && "
    "document.getElementById('summary').checkVisibility() && "
    "document.querySelector('.vrate') !== null"
)
SHOWN = "return document.getElementById('shown').textContent"
FIRST = "return document.querySelector('.vcase bdi')?.textContent"
AT_END = """
const last = [...document.querySelectorAll('.vbody .vrow')].at(-1);
const rows = document.querySelector('.vgrid').getAttribute('aria-rowcount');
return last.getAttribute('aria-rowindex') === rows && !document.querySelector('[aria-busy=true]');
"""
"""Whether the last row is drawn, with all that stand before it on the screen."""
END = "const grid = document.querySelector('.vgrid'); grid.scrollTop = grid.scrollHeight"
TOP = "document.querySelector('.vgrid').scrollTop = 0"
CHOOSE = (
    "const at = document.getElementById(arguments[0]); at.value = arguments[1]; "
    "at.dispatchEvent(new Event('change'))"
)
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
"""Script that scrolls a screenful at each frame, and returns the time of each frame."""


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
            said = replace(
                said, tool_calls=tuple(with_frames(call, number) for call in said.tool_calls)
            )
            outcomes = count_outcomes(said)
            yield replace(run, outcomes=outcomes, offered=len(said.tools)), said


def with_frames(call: ToolCall, number: int) -> ToolCall:
    """Return ``call`` with the JSON-RPC frames of a call over a pipe."""
    head = {"jsonrpc": "2.0", "id": number}
    meta = {"com.example/order": f"meta-{number:06}"}
    given = {"name": call.tool, "arguments": dict(call.arguments), "_meta": meta}
    told = {"content": [{"type": "text", "text": call.text}], "isError": False}
    wire = Wire(
        id=str(number),
        protocol="2025-11-25",
        transport="pipe",
        request=reduce_frame({**head, "method": "tools/call", "params": given}, call),
        response=reduce_frame({**head, "result": told}, call),
    )
    return replace(call, wire=wire)


def large_run(runs: Path, cases: int) -> str:
    """Write the log of a run of ``cases`` cases with two models, and return its name."""
    name = f"20260301T{cases:06}Z-shop-viewing"
    if (runs / name / "log.jsonl").exists():
        return name
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


class Answers:
    """Measures the response time of ``url`` repeatedly in a thread."""

    def __init__(self, url: str) -> None:
        """Start without measurements."""
        self.url, self.slowest, self.number = url, 0.0, 0
        self._over = threading.Event()

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure during the block."""
        asking = threading.Thread(target=self._ask)
        asking.start()
        try:
            yield
        finally:
            self._over.set()
            asking.join()

    def _ask(self) -> None:
        while not self._over.wait(0.05):
            took = seconds(lambda: httpx2.get(self.url, timeout=60).raise_for_status())
            self.slowest, self.number = max(took, self.slowest), self.number + 1


def report(browser: Browser, folder: Path, log: Path) -> None:
    """Write the report of ``log``, open it, and print the times."""
    page = folder / "report.html"
    began = time.perf_counter()
    with page.open("w", encoding="utf-8") as stream:
        read = read_log(log)
        built = build_report(read)
        write_html(built, read, stream)
    written = time.perf_counter() - began
    began = time.perf_counter()
    browser.open(page.as_uri())
    browser.until(lambda: browser.run(CELLS))
    opened = time.perf_counter() - began
    size = page.stat().st_size / 1e6
    print(f"    report of {size:.1f} MB: written in {written:.1f} s, shown in {opened:.1f} s")
    page.unlink()
    kept = seconds(lambda: keep_store(read, built))
    print(f"    kept at the end of a run: {kept:.1f} s")


def seconds(act: Callable[[], Any]) -> float:
    """Return the seconds of ``act``."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def patiently(browser: Browser, true: Callable[[], Any]) -> None:
    """Wait until ``true`` holds, at most as long as reading a large log may take."""
    until = time.monotonic() + MOST_S
    while True:
        try:
            browser.until(true)
        except TimeoutException:
            if time.monotonic() > until:
                raise
        else:
            return


def page(browser: Browser, served_at: str, run: str) -> None:
    """Open ``run`` on the page, search, scroll, open a trace, and print the times."""

    def search(words: str) -> None:
        browser.run(TYPE, words)
        browser.until(lambda: browser.run(SHOWN).startswith("1 test of"))

    def clear() -> None:
        browser.run(TYPE, "")
        browser.until(lambda: " of " not in browser.run(SHOWN))

    def trace() -> None:
        browser.run("document.querySelector('[role=gridcell]').click()")
        browser.until(lambda: browser.run("return document.querySelector('.trace .timeline')"))

    def first() -> None:
        browser.open(f"{served_at}/evaluation?run={run}")
        browser.until(lambda: browser.run(CELLS))

    def read() -> None:
        patiently(browser, lambda: browser.run(READY))

    def end() -> None:
        browser.run(END)
        browser.until(lambda: browser.run(AT_END))

    def filtered() -> None:
        browser.run(CHOOSE, "filter-tag", "smoke")
        browser.until(lambda: " of " in browser.run(SHOWN))

    slow = Answers(f"{served_at}/health")
    with slow.measured():
        print(f"    first opening, a page:   {seconds(first):8.2f} s")
        print(f"    …and all of it:          {seconds(read):8.2f} s")
    print(f"    /health meanwhile:       {slow.slowest:8.2f} s (slowest of {slow.number})")
    print(f"    opened again, a page:    {seconds(first):8.2f} s")
    print(f"    …and all of it:          {seconds(read):8.2f} s")
    print(f"    a trace:                 {seconds(trace):8.2f} s")
    for where, words in SEARCHES.items():
        print(f"    a search in {where:13}{seconds(partial(search, words)):8.2f} s")
        clear()
    print(f"    a filter:                {seconds(filtered):8.2f} s")
    browser.run(CHOOSE, "filter-tag", "")
    browser.until(lambda: " of " not in browser.run(SHOWN))
    print(f"    to the end:              {seconds(end):8.2f} s")
    browser.run(TOP)
    slowest, middle = browser.run(SCROLL)
    print(
        f"    a frame of scrolling:    {middle:8.0f} ms (median), {slowest:.0f} ms (slowest of 120)"
    )
    heap = browser.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"] / 1e6
    print(f"    memory of the scripts:   {heap:8.0f} MB")


def memory_of(process: int) -> float:
    """Return the megabytes that a process has had at most; 0 where nobody says so."""
    try:
        told = Path(f"/proc/{process}/status").read_text("ascii")
    except OSError:
        return 0.0
    return int(told.partition("VmHWM:")[2].split()[0]) / 1e3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, nargs="*", default=SIZES)
    parser.add_argument("--reports", type=int, default=max(SIZES), metavar="N")
    parser.add_argument(
        "--folder", metavar="DIR", help="Keeps the runs there, and takes those of it."
    )
    asked = parser.parse_args()
    with (
        nullcontext(asked.folder) if asked.folder else tempfile.TemporaryDirectory() as folder,
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
            view = log.with_name(STORE)
            print(f"    view beside the log:     {view.stat().st_size / 1e6:8.1f} MB")
            print(f"    memory of the server:    {memory_of(server.process.pid):8.0f} MB at most")
            if cases <= asked.reports:
                report(browser, Path(folder), log)


if __name__ == "__main__":
    main()
