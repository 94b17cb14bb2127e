"""Each picture, and what is done for it."""

from __future__ import annotations

from collections.abc import Callable

from tests.browser import Browser
from tests.pictures.looking import (
    choose_file,
    click,
    open_first_trace,
    scroll_to,
    wait_for,
    window,
)
from tests.pictures.runs import Runs


def results(browser: Browser, runs: Runs) -> None:
    """Show the results of the sample: summary, grid, and the trace of the first failure."""
    browser.open(runs.sample)
    wait_for(browser, "12 tests")
    open_first_trace(browser)
    window(browser, 1280, 800)


def trace(browser: Browser, runs: Runs) -> None:
    """Show the trace of a graded test, in the dark."""
    browser.open(runs.sample, dark=True)
    wait_for(browser, "12 tests")
    open_first_trace(browser)
    window(browser, 900, 1000)
    scroll_to(browser, "Close", "button", above=10)


def on_a_phone(browser: Browser, runs: Runs) -> None:
    """Show the grid of the sample in a narrow window."""
    browser.open(runs.sample, width=390)
    wait_for(browser, "12 tests")
    window(browser, 390, 800)


def mistakes(browser: Browser, runs: Runs) -> None:
    """Show what the page says of a file with mistakes."""
    browser.open(f"{runs.page.url}/evaluation")
    window(browser, 1200, 900)
    choose_file(browser, str(runs.mistaken))
    wait_for(browser, "This cannot be run.")


def past_runs(browser: Browser, runs: Runs) -> None:
    """Show the list of runs with their trends."""
    assert runs.sample
    runs.repeat("hr_access", 2)
    runs.repeat("finance", 3)
    browser.open(f"{runs.page.url}/runs")
    window(browser, 1200, 900)
    wait_for(browser, "6 runs shown")
    wait_for(browser, "of the last")


def comparison(browser: Browser, runs: Runs) -> None:
    """Show a comparison: the difference, tools that differ, the first case opened."""
    browser.open(runs.compared.as_uri())
    window(browser, 1100, 1400)
    click(browser, "worse")
    scroll_to(browser, "A → B", above=200)


def report(browser: Browser, runs: Runs) -> None:
    """Show the top of a report."""
    browser.open(runs.report.as_uri())
    wait_for(browser, "22 tests")
    window(browser, 1280, 820)


def report_grid(browser: Browser, runs: Runs) -> None:
    """Show the grid of two models, with the trace of a failure beside it."""
    browser.open(runs.report.as_uri())
    wait_for(browser, "22 tests")
    open_first_trace(browser)
    window(browser, 1280, 820)
    scroll_to(browser, "Cases", above=60)


def report_tools(browser: Browser, runs: Runs) -> None:
    """Show tools, expected against called ones, and time, in the dark."""
    browser.open(runs.report.as_uri(), dark=True)
    wait_for(browser, "22 tests")
    window(browser, 1200, 1040)
    scroll_to(browser, "Tools", above=60)


def report_on_a_phone(browser: Browser, runs: Runs) -> None:
    """Show the grid of a report in a narrow window."""
    browser.open(runs.report.as_uri(), width=390)
    wait_for(browser, "22 tests")
    window(browser, 390, 800)
    scroll_to(browser, "Cases", above=60)


def workbench(browser: Browser, runs: Runs) -> None:
    """Show the top of a workbench, with the first tool that has a shown effect opened."""
    browser.open(runs.workbench.as_uri())
    window(browser, 1000, 1480)
    wait_for(browser, "The tools, word by word")


def kill_score(browser: Browser, runs: Runs) -> None:
    """Show which defects a suite notices, in the dark, and the first missing test."""
    browser.open(runs.workbench.as_uri(), dark=True)
    window(browser, 1100, 560)
    scroll_to(browser, "Kill score", above=50)


PICTURES: dict[str, Callable[[Browser, Runs], None]] = {
    "compare-page.png": comparison,
    "report-overview.png": report,
    "report-phone.png": report_on_a_phone,
    "report-tools.png": report_tools,
    "viewer.png": report_grid,
    "web-case.png": trace,
    "web-mistakes.png": mistakes,
    "web-phone.png": on_a_phone,
    "web-results.png": results,
    "web-runs.png": past_runs,
    "workbench-kill-score.png": kill_score,
    "workbench.png": workbench,
}
"""File in docs/images → what brings it into the browser's window."""
