"""A run is asked once more: all of it, what failed, or after a change; the form forgets nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.logs import a_log, a_run
from tests.web.support import Page, dataset, open_form

NEED = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
TEXT = "return document.querySelector(arguments[0]).textContent"
VALUE = "return document.getElementById(arguments[0]).value"
HIDDEN = "return document.getElementById(arguments[0]).hidden"
RUN = "return new URLSearchParams(location.search).get('run')"


def ended(page: Page, content: str, name: str = "tests.csv", **fields: str) -> str:
    run = page.begin(content, name, **fields)
    page.until(run, "summary")
    return run


def test_only_the_tests_that_failed_are_asked_again(page: Page) -> None:
    content = dataset(["Say seven.", "This one is wrong.", "Say seven."])
    run = ended(page, content, "again.csv")
    asked = page.client.get(f"/evaluations/{run}/suite").json()
    assert (asked["name"], asked["text"]) == ("again.csv", content.replace("\r\n", "\n"))
    assert {asked["choice"][key] for key in ("model", "server")} == {"fake", "plain"}
    again = ended(page, asked["text"], asked["name"], failed_of=run)
    counts = page.get(again)["summary"]["counts"]
    assert (counts["planned"], counts["failed"]) == (1, 1)
    for other, words in (("nothing", "there is no run"), ("../x", "there is no run")):
        refused = page.post("/evaluations/check", content, "again.csv", failed_of=other)
        assert refused.status_code == 422
        assert words in refused.json()["problems"][0]["message"]


def test_a_run_is_asked_again_with_all_that_was_chosen_for_it(page: Page) -> None:
    given = {
        "trials": "1..2",
        "read_only": "true",
        "max_tokens": "1",
        "user_context": '{"role": "a"}',
    }
    run = ended(page, dataset(["Say seven."]), **given, block="echo", model="fake", server="plain")
    asked = page.client.get(f"/evaluations/{run}/suite").json()["choice"]
    wanted = {**given, "block": ["echo"], "model": "fake", "server": "plain"}
    assert {key: text for key, text in asked.items() if text} == wanted | {"concurrency": "4"}


def test_a_suite_outside_of_the_project_is_never_read(page: Page, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yml"
    secret.write_text("password: 1")
    inside = page.project.folder / "mine.yml"
    inside.write_text("suite: mine")
    for number, (file, status) in enumerate(((secret, 404), (inside, 200), (Path("x.py"), 404))):
        name = f"2026080{number + 1}T000000Z-where"
        log = page.project.folder / ".harness" / "runs" / name / "log.jsonl"
        a_log(log, a_run("a"))
        log.write_text(log.read_text().replace("evals/shop.yml", str(file), 1))
        assert page.client.get(f"/evaluations/{name}/suite").status_code == status
    assert page.client.get("/evaluations/none/suite").status_code == 404


@pytest.mark.slow
@NEED
def test_failed_tests_run_again_at_one_press_and_a_changed_suite_after_an_edit(
    page: Page, browser: Browser
) -> None:
    run = ended(page, dataset(["Say seven.", "This one is wrong."]), "pressed.csv")
    browser.open(f"{page.url}/evaluation?run={run}")
    browser.until(lambda: not browser.run(HIDDEN, "run-failed"))
    browser.driver.find_element(By.ID, "run-failed").click()
    second = browser.until(lambda: browser.run(RUN) != run and browser.run(RUN))
    browser.until(lambda: not browser.run(HIDDEN, "edit"))
    assert page.get(second)["summary"]["counts"]["planned"] == 1
    browser.driver.find_element(By.ID, "edit").click()
    browser.until(lambda: "Ready. pressed: 2 tests" in browser.run(TEXT, "#verdict"))
    assert (browser.run(VALUE, "model"), browser.run(VALUE, "server")) == ("fake", "plain")
    browser.run(
        "const text = document.getElementById('text');"
        "text.value = text.value.replace('This one is wrong.', 'Say seven.');"
        "text.dispatchEvent(new Event('input'))"
    )
    # What was written and chosen is there after a reload.
    browser.until(lambda: "Changed here" in browser.run(TEXT, "#kept"))
    draft = "return sessionStorage['harness-draft']"
    browser.until(lambda: "wrong" not in browser.run(draft))
    browser.driver.get(f"{page.url}/evaluation")
    browser.until(lambda: "Ready. pressed: 2 tests" in browser.run(TEXT, "#verdict"))
    assert "wrong" not in browser.run(VALUE, "text")
    assert browser.run(VALUE, "model") == "fake"
    browser.driver.find_element(By.ID, "run").click()
    third = browser.until(lambda: browser.run(RUN))
    browser.until(lambda: not browser.run(HIDDEN, "edit"))
    assert page.get(third)["summary"]["counts"]["passed"] == 2
    browser.driver.back()
    browser.until(lambda: "Ready. pressed: 2 tests" in browser.run(TEXT, "#verdict"))
    assert browser.complaints() == []


@pytest.mark.slow
@NEED
def test_tests_are_written_on_the_page_in_yaml_or_taken_from_a_past_run(
    page: Page, browser: Browser
) -> None:
    run = ended(page, dataset(["Say seven."]), "of_the_past.csv")
    open_form(browser, page)
    options = "return document.querySelectorAll('#past option').length > 1"
    browser.until(lambda: browser.run(options))
    browser.run("document.getElementById('server').value = 'finance'")
    browser.driver.find_element(By.ID, "write").click()
    browser.until(lambda: "Ready. my_tests: 1 test" in browser.run(TEXT, "#verdict"))
    assert "must_call" in browser.run(VALUE, "text")
    browser.run(
        "const past = document.getElementById('past'); past.value = arguments[0];"
        "past.dispatchEvent(new Event('change'))",
        run,
    )
    browser.until(lambda: "Ready. of_the_past: 1 test" in browser.run(TEXT, "#verdict"))
    assert browser.run(VALUE, "server") == "plain"
    assert browser.complaints() == []
