"""A file that was chosen and then changed on the disk."""

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.web.support import Page, dataset, open_form

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)

TEXT = "return document.querySelector(arguments[0]).textContent"


@pytest.mark.slow
def test_a_file_that_was_corrected_after_it_was_chosen_is_to_be_chosen_again_and_then_runs(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(dataset(["Say seven."]))
    open_form(browser, page)
    options = "return document.querySelectorAll('#server option').length > 1"
    browser.until(lambda: browser.run(options))
    for field, value in (("model", "fake"), ("server", "plain")):
        browser.run("document.getElementById(arguments[0]).value = arguments[1]", field, value)
    browser.driver.find_element(By.ID, "file").send_keys(str(file))
    browser.until(lambda: "mine: 1 test" in browser.run(TEXT, "#verdict"))
    file.write_text(dataset(["Say seven.", "Say seven again."]))
    browser.driver.find_element(By.ID, "run").click()
    browser.until(lambda: "mine.csv: It has changed on the disk" in browser.run(TEXT, "#verdict"))
    assert "server cannot be reached" not in browser.run(TEXT, "#verdict")
    browser.driver.find_element(By.ID, "file").send_keys(str(file))
    browser.until(lambda: "mine: 2 tests" in browser.run(TEXT, "#verdict"))
    browser.driver.find_element(By.ID, "run").click()
    browser.until(
        lambda: (
            "2 of 2 tests" in browser.run(TEXT, "#state") or "ended" in browser.run(TEXT, "#state")
        )
    )
