"""Results lead to the comparison, case by case, and the comparison back to the results."""

from __future__ import annotations

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.logs import a_log, a_run
from tests.web.support import Page

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)

FIRST, SECOND = "20260601T000000Z-to-compare", "20260602T000000Z-to-compare"
TEXT = "return document.querySelector(arguments[0]).textContent"


@pytest.mark.slow
def test_a_test_leads_to_its_comparison_with_the_run_before_and_back(
    page: Page, browser: Browser
) -> None:
    runs = page.project.folder / ".harness" / "runs"
    for name, ending in ((FIRST, "passed"), (SECOND, "failed")):
        a_log(
            runs / name / "log.jsonl",
            a_run("a", suite="to_compare"),
            a_run("b & c", ending, suite="to_compare"),  # type: ignore[arg-type]
        )
    browser.open(f"{page.url}/evaluation?run={SECOND}")
    browser.until(lambda: browser.run("return document.getElementById('compare-with') !== null"))
    assert browser.run("return document.getElementById('compare-with').value") == FIRST
    browser.run("document.querySelector('[role=gridcell]').click()")
    link = "return [...document.querySelectorAll('.trace-content a')].map((one) => one.href)"
    (address,) = browser.until(lambda: browser.run(link))
    assert f"a={FIRST}&b={SECOND}" in address
    browser.open(address)
    shown = "return document.querySelector('#list details[open] .body a')?.textContent"
    assert browser.until(lambda: browser.run(shown)) == "This case in A m"
    assert browser.run(TEXT, "#list details[open] .name") == "b & c"
    back = browser.run(
        "return [...document.querySelectorAll('#list details[open] .body a')][1].href"
    )
    assert back.startswith(f"{page.url}/evaluation?run={SECOND}#open=to_compare%2Fb")
    assert browser.run("return document.querySelector('#links a').href").endswith(FIRST)
    assert browser.complaints() == []


def test_three_runs_are_compared_with_the_first_and_one_of_several_models_with_itself(
    page: Page,
) -> None:
    runs = page.project.folder / ".harness" / "runs"
    names = [f"2026060{day}T000000Z-three" for day in (3, 4, 5)]
    for name in names:
        a_log(runs / name / "log.jsonl", a_run("a"), a_run("a", "failed", model="n"))
    query = "&".join(["a=" + names[0], *("b=" + name for name in names[1:])])
    assert page.client.get(f"/runs/compare?{query}").text.count("<h2>") == 4
    alone = page.client.get(f"/runs/compare?a={names[0]}")
    assert alone.status_code == 200
    assert "A → B: undecided" in alone.text
