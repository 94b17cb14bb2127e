"""People name a run and tag it; the list finds it by both and by how it ended."""

from __future__ import annotations

from typing import Any

import pytest
from selenium.webdriver.common.by import By

from harness.web.labels import LABEL
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.web.support import Page, dataset

SUITES = "return [...document.querySelectorAll('#rows .suite')].map((one) => one.textContent)"


@pytest.fixture(scope="module")
def run(page: Page) -> str:
    name = page.begin(dataset(["Say seven.", "This one is wrong."]), "labelled.csv")
    page.until(name, "summary")
    return name


def put(page: Page, run: str, label: Any, **headers: str) -> Any:
    return page.client.put(f"/evaluations/{run}/label", json=label, headers=headers)


def found(page: Page, **wanted: str) -> list[str]:
    runs = page.client.get("/evaluations", params=wanted).json()["runs"]
    return [one["id"] for one in runs]


def test_a_run_is_found_by_its_name_and_its_tags_and_its_log_stays(page: Page, run: str) -> None:
    log = page.project.folder / ".harness/runs" / run / "log.jsonl"
    before = log.read_bytes()
    label = {"name": "Before the new words", "tags": ["release", "v2"]}
    assert put(page, run, label).json() == label
    assert page.client.get(f"/evaluations/{run}/grid").json()["run"]["label"] == label
    assert found(page, label="the new WORDS") == found(page, label="v2", result="failed") == [run]
    assert found(page, label="v2", result="passed") == found(page, label="other") == []
    assert log.read_bytes() == before
    cleaned = put(page, run, {"name": " a\u202e \n b ", "tags": ["x", " x ", ""]}).json()
    assert cleaned["tags"] == ["x"]
    assert "\n" not in cleaned["name"]
    assert "\u202e" not in cleaned["name"]
    assert put(page, run, {}).json() == {"name": "", "tags": []}


@pytest.mark.parametrize(
    "label",
    [
        {"name": "x" * 101},
        {"name": 1},
        {"tags": "x"},
        {"tags": ["x"] * 11},
        {"tags": ["x" * 31]},
        {"tags": [1]},
        {"other": ""},
        [],
    ],
)
def test_what_is_no_label_is_refused(page: Page, run: str, label: Any) -> None:
    assert put(page, run, label).status_code == 400


def test_only_a_page_of_its_own_and_a_run_that_is_there_are_labelled(page: Page, run: str) -> None:
    assert put(page, "none", {}).status_code == 404
    assert put(page, "..%2f..", {}).status_code == 404
    assert put(page, run, {}, origin="https://evil.example").status_code == 403
    assert put(page, run, {}, **{"content-type": "text/plain"}).status_code == 415


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 1}', "\x00"])
def test_a_damaged_label_is_none(page: Page, run: str, text: str) -> None:
    place = page.project.folder / ".harness/runs" / run / LABEL
    place.write_text(text)
    assert page.client.get(f"/evaluations/{run}/grid").json()["run"]["label"]["name"] == ""
    place.unlink()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_a_run_is_named_on_its_page_and_found_by_its_tag(
    page: Page, run: str, browser: Browser
) -> None:
    browser.open(f"{page.url}/evaluation?run={run}")
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow')"))
    browser.driver.find_element(By.CSS_SELECTOR, ".menu summary").click()
    browser.driver.find_element(By.ID, "label-name").send_keys("Golden")
    browser.driver.find_element(By.ID, "label-tags").send_keys("weekly, <b>bold</b>")
    browser.driver.find_element(By.CSS_SELECTOR, "#labelling button").click()
    browser.until(lambda: browser.driver.find_element(By.ID, "live-title").text == "Golden")
    tags = browser.driver.find_elements(By.CSS_SELECTOR, "#tags .tag")
    assert [one.text for one in tags] == ["weekly", "<b>bold</b>"]
    browser.driver.find_element(By.CSS_SELECTOR, ".menu summary").click()
    tags[0].click()
    browser.until(lambda: browser.run(SUITES) == ["Golden labelled weekly <b>bold</b>"])
    assert browser.driver.find_element(By.ID, "label").get_attribute("value") == "weekly"
    assert browser.complaints() == []
    put(page, run, {})
