"""The list of cases and the plot of a comparison, in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.comparing.test_page import FIND, VAGUE, a_log, page_of, said
from tests.reports.sample_logs import a_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING),
]
TEXTS = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
DRAWN = "return document.querySelectorAll('#list > li > details').length"
CROSSED = """const svg = document.querySelector('.effects svg');
const boxes = (name) => [...svg.querySelectorAll(name)]
  .map((one) => [one, one.getBoundingClientRect()]);
const texts = boxes('text');
const others = [...texts, ...boxes('line'), ...boxes('rect'), ...boxes('circle')];
return texts.flatMap(([text, a]) => others.filter(([other, b]) => other !== text
  && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
  .map(([other]) => `${text.textContent} on ${other.outerHTML.slice(0, 60)}`))"""
SCALE = "return [...document.querySelectorAll('.effects text.dim')].map((one) => one.textContent)"


def a_page(folder: Path, cases: int, lost: int) -> str:
    names = [f"case_{number:04}" for number in range(cases)]
    before = [(a_run(name), said(f"Yes, {name}.\nMore.")) for name in names]
    after = []
    for number, name in enumerate(names):
        ended = "failed" if number % (cases // lost) == 1 else "passed"
        run = replace(a_run(name, ended), events_digest=f"sha256:{number}")  # type: ignore[arg-type]
        after.append((run, said(f"No, {name}.\nLess.")))
    logs = [
        a_log(folder / "20260101T000000Z-a", FIND, *before),
        a_log(folder / "20260102T000000Z-b", VAGUE, *after),
    ]
    return page_of(logs).as_uri()


@pytest.mark.parametrize("lost", [2, 20])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_plot_has_a_scale_and_no_label_lies_on_anything(
    tmp_path: Path, browser: Browser, width: int, lost: int
) -> None:
    browser.open(a_page(tmp_path, 40, lost), width=width)
    scale = browser.run(SCALE)
    assert {"0", "← worse", "better →", "points"} < set(scale)
    assert len([one for one in scale if one[0] in "+−"]) >= 4
    assert browser.run(CROSSED) == []


def test_what_changed_comes_first_with_its_question_and_the_first_line_of_both_answers(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(a_page(tmp_path, 6, 1), width=1440)
    first, second = "#list > li:first-child ", "#list > li:nth-child(2) "
    assert browser.run(TEXTS, f"{first}.name") == ["case_0001"]
    assert browser.run(TEXTS, f"{first}.asked") != []
    assert browser.run(TEXTS, f"{first}.first-lines dd") == ["Yes, case_0001.", "No, case_0001."]
    assert browser.run(TEXTS, f"{second}.asked, {second}.first-lines") == []


def test_only_rows_near_the_screen_are_part_of_the_page_and_an_opened_one_stays(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(a_page(tmp_path, 900, 1), width=1440)
    assert len(browser.run(TEXTS, "#list > li")) == 900
    assert browser.run(DRAWN) < 150
    browser.run("document.querySelector('#list details').open = true")
    browser.until(lambda: browser.run("return document.querySelector('#list .both')"))
    browser.run("scrollTo(0, document.body.scrollHeight)")
    last = "return document.querySelector('#list > li:last-child .name')?.textContent"
    browser.until(lambda: browser.run(last) == "case_0899")
    browser.until(lambda: browser.run(DRAWN) < 150)
    assert browser.run("return document.querySelector('#list .both') !== null")
    browser.run("location.hash = '#case=case_0450'")
    browser.until(lambda: "case_0450" in browser.run(TEXTS, "#list details[open] .name"))
    assert browser.complaints() == []
