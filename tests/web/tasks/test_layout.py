"""Where the first row of a run is, what a row says on a phone, and that nothing moves by itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.web.faults.test_several_models import two_models
from tests.web.support import Page, dataset

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING),
    pytest.mark.slow,
]
TOP = "return document.querySelector('.vbody .vrow').getBoundingClientRect().top + scrollY"
ROWS = "return document.querySelectorAll('.vbody .vrow, #rows tr, #operations section').length"
SHIFTS = """return new Promise((done) => {
  const found = [];
  new PerformanceObserver((list) => found.push(...list.getEntries()))
    .observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(found.map((one) => [one.value, ...one.sources.map((source) =>
    (source.node?.outerHTML || source.node?.parentElement?.outerHTML || '').slice(0, 120))])), 700);
})"""
HEAD = """return ['body', '.top', '.top strong'].map((name) => {
  const {x, y, width, height} = document.querySelector(name).getBoundingClientRect();
  return name === 'body' ? [x, width] : [x, y, width, height];
})"""
SUITES = """return [...document.querySelectorAll('.vbody .vsuite')].map((one) => {
  const {width, height} = one.getBoundingClientRect();
  return [one.textContent, width > 20 && height > 10];
})"""


@pytest.fixture(scope="module")
def graded(page: Page) -> str:
    run = page.begin(dataset(["Say seven.", "This one is wrong."]))
    page.until(run, "summary")
    return run


def several(page: Page) -> str:
    name = "20260701T000000Z-layout-several"
    log = page.project.folder / ".harness/runs" / name / "log.jsonl"
    if not log.exists():
        two_models(log)
    return name


@pytest.mark.parametrize(("width", "most"), [(1440, 200), (390, 320)])
def test_the_first_row_of_a_graded_run_is_near_the_top(
    page: Page, graded: str, browser: Browser, width: int, most: int
) -> None:
    browser.open(f"{page.url}/evaluation?run={graded}", width=width)
    browser.until(lambda: browser.run("return !document.getElementById('summary').hidden"))
    browser.until(lambda: browser.run(ROWS))
    browser.until(lambda: browser.run("return !document.getElementById('run-failed').hidden"))
    assert browser.run(TOP) <= most


def shifts(browser: Browser) -> Any:
    browser.until(lambda: browser.run(ROWS))
    return browser.run(SHIFTS)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("path", ["/suites", "/evaluation", "/runs", "/docs"])
def test_no_page_moves_what_is_already_there(
    page: Page, graded: str, browser: Browser, path: str, width: int
) -> None:
    browser.open(page.url + path, width=width)
    assert browser.run(SHIFTS) == []


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("path", ["/suites", "/evaluation", "/runs", "/runs/grid", "/docs"])
def test_the_head_of_a_page_stands_where_it_stays_before_the_rest_has_been_read(
    page: Page, browser: Browser, path: str, width: int
) -> None:
    browser.open(page.url + path, width=width)
    whole = browser.run(HEAD)
    browser.run("document.querySelectorAll('main, .top nav').forEach((one) => one.remove())")
    assert browser.run(HEAD) == whole


@pytest.mark.parametrize("width", [1440, 390])
def test_a_run_that_has_ended_is_shown_without_a_shift(
    page: Page, graded: str, browser: Browser, width: int
) -> None:
    for run in (graded, several(page)):
        browser.open(f"{page.url}/evaluation?run={run}", width=width)
        assert shifts(browser) == []
