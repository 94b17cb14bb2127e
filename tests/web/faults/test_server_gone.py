"""A page whose server is killed says so, and finds it again."""

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.fake_provider import FakeProvider
from tests.web.support import WAIT_S, a_project, dataset, open_form, served

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)

TEXT = "return document.querySelector(arguments[0]).textContent"


@pytest.mark.slow
def test_a_page_whose_server_is_killed_stops_its_clock_and_forgets_the_error_when_it_is_back(
    tmp_path: Path, provider: FakeProvider, browser: Browser
) -> None:
    project = a_project(tmp_path, provider)
    with served(project) as page:
        run = page.begin(dataset(["Say seven.", "stall here"]))
        browser.open(f"{page.url}/evaluation?run={run}")
        browser.until(lambda: browser.run(TEXT, "#state") == "1 of 2 tests have ended.")
        page.process.kill()
        page.process.wait(WAIT_S)
        browser.until(lambda: "connection to the server was lost" in browser.run(TEXT, "#state"))
        browser.driver.find_element(By.ID, "cancel").click()
        browser.until(lambda: "cannot be reached" in browser.run(TEXT, "#failure"))
        assert "lost" in browser.run(TEXT, "#state")
        assert browser.run(TEXT, "#tiles").startswith("Time–")
    with served(project, "--port", page.url.rpartition(":")[2]):
        browser.until(lambda: browser.run(TEXT, "#state").startswith("The run ended early"))
        assert browser.run(TEXT, "#failure") == ""


@pytest.mark.slow
def test_a_form_that_found_no_server_can_be_used_when_it_is_back(
    tmp_path: Path, provider: FakeProvider, browser: Browser
) -> None:
    project = a_project(tmp_path, provider)
    file = tmp_path / "mine.csv"
    file.write_text(dataset(["Say seven."]))
    with served(project) as page:
        open_form(browser, page)
        options = "return document.querySelectorAll('#server option').length > 1"
        browser.until(lambda: browser.run(options))
        browser.run("document.getElementById('server').value = 'plain'")
        page.process.kill()
        page.process.wait(WAIT_S)
        browser.driver.find_element(By.ID, "file").send_keys(str(file))
        browser.until(lambda: "cannot be reached" in browser.run(TEXT, "#verdict"))
    with served(project, "--port", page.url.rpartition(":")[2]):
        browser.until(lambda: "Ready" in browser.run(TEXT, "#verdict"))
