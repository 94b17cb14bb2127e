"""Many windows on one run: a browser opens six connections to a host, and streams keep theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.by import By

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.web.support import Page, dataset

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)

TWELVE = 12
TEXT = "return document.querySelector(arguments[0]).textContent"
STATUSES = "return [...document.querySelectorAll('.vbody .vword')].map((one) => one.textContent)"


@pytest.fixture
def windows(browser: Browser) -> Iterator[list[str]]:
    first = browser.driver.current_window_handle
    opened: list[str] = []
    try:
        yield opened
    finally:
        for one in opened:
            browser.driver.switch_to.window(one)
            browser.driver.close()
        browser.driver.switch_to.window(first)


@pytest.mark.slow
@pytest.mark.parametrize("sort", ["tab", "window"])
def test_twelve_views_of_a_run_block_neither_each_other_nor_the_list_nor_cancel(
    page: Page, browser: Browser, windows: list[str], sort: str
) -> None:
    browser.open("about:blank")  # what an earlier page still asks for is not of this test
    run = page.begin(dataset(["Say seven.", "stall here"]))
    page.until(run, "test_case_result")
    for _ in range(TWELVE):
        browser.driver.switch_to.new_window(sort)
        windows.append(browser.driver.current_window_handle)
        browser.driver.get(f"{page.url}/evaluation?run={run}")
        browser.until(lambda: browser.run(STATUSES) == ["running", "passed"])
    browser.driver.switch_to.new_window("tab")
    windows.append(browser.driver.current_window_handle)
    browser.driver.get(f"{page.url}/runs")
    browser.until(lambda: browser.run("return document.querySelector('#rows tr') !== null"))
    browser.driver.switch_to.window(windows[0])
    browser.driver.find_element(By.ID, "cancel").click()
    for one in windows[:TWELVE]:
        browser.driver.switch_to.window(one)
        browser.until(lambda: browser.run(STATUSES) == ["cancelled", "passed"])
    assert browser.complaints() == []
