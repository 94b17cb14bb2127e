"""Trends join like with like, and a model has one colour wherever it stands."""

from __future__ import annotations

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.logs import a_log, a_run
from tests.web.support import Page

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
HUES = (
    "return [...document.querySelectorAll(arguments[0])].map((one) => "
    "one.style.getPropertyValue('--hue'))"
)


@pytest.mark.slow
def test_a_run_of_a_few_cases_is_not_joined_with_full_ones(page: Page, browser: Browser) -> None:
    for day, cases in ((1, 10), (2, 2), (3, 10)):
        name = f"2026090{day}T000000Z-like_with_like"
        log = page.project.folder / ".harness" / "runs" / name / "log.jsonl"
        runs = [a_run(f"c{n}", suite="like_with_like", model="m é") for n in range(cases)]
        a_log(log, *runs)
        text = log.read_text().replace("2026-01-01T00:00:00Z", f"2026-09-0{day}T00:00:00Z")
        log.write_text(text)
    browser.open(f"{page.url}/runs")
    browser.run(
        "const at = document.getElementById('suite'); at.value = 'like_with_like';"
        "at.dispatchEvent(new Event('input'))"
    )
    dots = "return [...document.querySelectorAll('#charts .dot')].map((one) => one.classList[1])"
    browser.until(lambda: browser.run(dots) == ["of-model", "other", "of-model"])
    line = browser.run("return document.querySelector('#charts .line').getAttribute('points')")
    assert len(line.split()) == 2
    label = browser.run("return document.querySelector('#charts svg').getAttribute('aria-label')")
    assert "m é: 100 %, 100 % (other tests: 2 of 2), 100 %" in label
    hues = {*browser.run(HUES, "#charts .dot"), *browser.run(HUES, "#rows .swatch")}
    assert len(hues) == 1
    browser.open(f"{page.url}/evaluation?run=20260901T000000Z-like_with_like")
    browser.until(lambda: browser.run(HUES, ".vhead .swatch"))
    assert {*browser.run(HUES, ".vhead .swatch")} == hues
    report = f"{page.url}/runs/20260901T000000Z-like_with_like/report"
    browser.open(report)
    browser.until(lambda: browser.run(HUES, ".vhead .swatch"))
    assert {*browser.run(HUES, ".vhead .swatch")} == hues
    several = "a=20260901T000000Z-like_with_like&b=20260903T000000Z-like_with_like"
    browser.open(f"{page.url}/runs/compare?{several}")
    assert browser.run(HUES, "#models .swatch") == [*hues] * 2
    browser.run("document.querySelector('#list details').open = true")
    browser.until(lambda: browser.run(HUES, ".heads .swatch"))
    assert browser.run(HUES, ".heads .swatch") == [*hues] * 2
    assert browser.complaints() == []
