"""What people come to the page for, each within three clicks from the page where it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.sample_logs import a_conversation, a_log, a_run, must_call
from tests.web.support import Page, dataset

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING),
    pytest.mark.slow,
]
MOST = 3
TWO = "20260801T000000Z-two-subjects"
SUITE = """suite: own
server: plain
tests:
  - {name: seven, prompt: Say seven., assertions: {must_call: [{tool: echo}]}}
"""
TEXTS = (
    "return [...document.querySelectorAll(arguments[0])].filter((one) => one.offsetParent)"
    ".map((one) => one.innerText)"
)
RUN = "return new URLSearchParams(location.search).get('run')"
NAMED = """const [place, words] = arguments;
const seen = {visibilityProperty: true};
return [...document.querySelectorAll(place)].find((one) => one.checkVisibility(seen)
  && (one.innerText.trim() || one.value || '').startsWith(words))"""
ANY = "a, button, summary, label, [role=row], input"


class Hand:
    """Clicks, and counts them; typing is no click."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.clicks = 0

    def click(self, words: str, place: str = ANY) -> None:
        found = self.browser.until(lambda: self.browser.run(NAMED, place, words))
        self.browser.run("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()
        self.clicks += 1

    def pick(self, name: str) -> None:
        self.browser.until(lambda: self.browser.driver.find_elements(By.ID, name))
        self.browser.driver.find_element(By.ID, name).click()
        self.clicks += 1

    def sees(self, place: str, wanted: Callable[[list[str]], bool]) -> list[str]:
        # Nothing is there until the page has drawn it.
        self.browser.until(lambda: (texts := self.browser.run(TEXTS, place)) and wanted(texts))
        found: list[str] = self.browser.run(TEXTS, place)
        return found

    def run(self, *, other_than: str = "") -> str:
        def find_new() -> str | None:
            run: str | None = self.browser.run(RUN)
            return None if run == other_than else run

        return str(self.browser.until(find_new))


@pytest.fixture
def hand(browser: Browser) -> Iterator[Hand]:
    hand = Hand(browser)
    yield hand
    assert 1 <= hand.clicks <= MOST
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def two(page: Page) -> str:
    """The address of a run of two subjects that differ in one case."""
    folder = page.project.folder / ".harness/runs" / TWO
    trials = []
    for name in ("first", "second", "third"):
        for model in ("large", "small"):
            bad = (name, model) == ("second", "small")
            checks = (must_call("get_order", explanation="It was not called."),) if bad else ()
            run = a_run(name, "failed" if bad else "passed", model=model, checks=checks)
            fine = a_conversation("get_order", answer=f"{model} knows {name}", prompt=f"Ask {name}")
            lost = a_conversation("refund", outcome="tool_error", answer="small is lost")
            trials.append((run, lost if bad else fine))
    a_log(Path(folder), trials, models=("large", "small"))
    return f"{page.url}/evaluation?run={TWO}"


@pytest.fixture(scope="module")
def graded(page: Page) -> str:
    run = page.begin(dataset(["Say seven.", "This one is wrong."]), "graded.csv")
    page.until(run, "summary")
    return run


def test_find_the_only_difference_between_two_subjects(
    hand: Hand, two: str, browser: Browser
) -> None:
    browser.open(two, width=1440)
    hand.click("changed")
    hand.sees(".vcase bdi", lambda names: names == ["second"])
    hand.click("second", "[role=row]")
    hand.sees(".trace-pin dd", lambda told: len(told) >= 2)


def test_find_the_tool_that_fails_most(hand: Hand, two: str, browser: Browser) -> None:
    browser.open(two, width=1440)
    hand.click("More")
    hand.click("Open the report")
    hand.click("Tools")
    rows = hand.sees("#tools-table tbody tr", lambda rows: len(rows) > 1)
    assert rows[0].startswith("refund")


def test_share_one_trace(hand: Hand, two: str, browser: Browser) -> None:
    browser.open(two, width=1440)
    hand.click("second", "[role=row]")
    hand.click("Copy link")
    address = browser.run("return location.href")
    browser.open("about:blank")
    browser.open(address, width=1440)
    hand.sees(".trace-pin dd", bool)


def test_run_the_failed_again(hand: Hand, page: Page, graded: str, browser: Browser) -> None:
    browser.open(f"{page.url}/evaluation?run={graded}", width=1440)
    hand.click("Run failed")
    again = hand.run(other_than=graded)
    page.until(again, "summary")
    assert page.get(again)["summary"]["counts"]["planned"] == 1


def test_run_a_suite_of_the_project_with_another_model(
    hand: Hand, page: Page, browser: Browser
) -> None:
    folder = page.project.folder / "evals"
    folder.mkdir(exist_ok=True)
    (folder / "own.yml").write_text(SUITE)
    browser.open(f"{page.url}/suites", width=1440)
    hand.click("fake", "label")
    hand.click("Run", "#rows button")
    run = hand.run()
    page.until(run, "summary")
    assert page.get(run)["models"] == ["fake"]


def test_read_all_answers_beside_each_other(hand: Hand, two: str, browser: Browser) -> None:
    browser.open(two, width=1440)
    hand.click("Answers")
    hand.sees(".vanswer", lambda texts: "small is lost" in texts and all(texts))


def test_see_what_a_case_took(hand: Hand, two: str, browser: Browser) -> None:
    browser.open(two, width=1440)
    hand.click("Tokens, time, cost")
    hand.sees(".veffort", lambda texts: len(texts) == 6 and all(texts))


def test_see_only_what_failed_and_why(hand: Hand, two: str, browser: Browser) -> None:
    browser.open(two, width=1440)
    hand.click("not passed")
    problems = hand.sees(".vproblem", lambda texts: len(texts) >= 1)
    assert "It was not called." in " ".join(problems)


def test_see_the_pass_rates_with_their_intervals(hand: Hand, two: str, browser: Browser) -> None:
    browser.open(two, width=1440)
    hand.click("Charts")
    hand.sees(".vchart figcaption", lambda titles: titles[0].startswith("Pass rate"))


def test_compare_a_run_with_the_one_before(
    hand: Hand, page: Page, graded: str, browser: Browser
) -> None:
    later = page.begin(dataset(["Say seven.", "This one is wrong."]), "graded.csv")
    page.until(later, "summary")
    browser.open(f"{page.url}/runs", width=1440)
    for run in (graded, later):
        hand.pick(f"pick-{run}")
    hand.click("Compare two runs")
    hand.sees("h1", lambda titles: titles[0].startswith("Comparison"))


def test_change_a_question_and_ask_again(
    hand: Hand, page: Page, graded: str, browser: Browser
) -> None:
    browser.open(f"{page.url}/evaluation?run={graded}", width=1440)
    hand.click("Edit and run")
    text: Any = browser.until(lambda: browser.run("return document.querySelector('#text').value"))
    browser.run(
        "const at = document.querySelector('#text'); at.value = arguments[0];"
        "at.dispatchEvent(new Event('input'))",
        text.replace("This one is wrong.", "Say seven."),
    )
    browser.run("document.getElementById('verdict').replaceChildren()")  # what was said before
    hand.sees("#verdict", lambda told: told[0].startswith("✓ Ready"))
    hand.click("Run", "#run")
    run = hand.run(other_than=graded)
    page.until(run, "summary")
    assert page.get(run)["summary"]["counts"]["passed"] == 2


def test_take_a_report_along(hand: Hand, two: str, browser: Browser, tmp_path: Path) -> None:
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    browser.open(two, width=1440)
    hand.click("More")
    hand.click("Download to share")
    browser.until((tmp_path / f"{TWO}.html").exists)
