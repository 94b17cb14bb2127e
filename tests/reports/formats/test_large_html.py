"""The page of a large run: its first rows at once, then the others, and details when asked for."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from harness.reports.formats import html_report
from harness.reports.formats.html_report import overview
from harness.types import Status
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.formats.test_html import page_of
from tests.reports.packs import blocks_of
from tests.reports.sample_logs import Trial, a_conversation, a_log, a_run, must_call, written
from tests.reports.viewer.test_viewer import NAMES, SET, SHOWN, TEXT

needs_browser = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
BARS = "return document.querySelectorAll('#charts figure:first-child rect').length"


def trials(number: int) -> list[Trial]:
    """Return a case for each number; every fifth fails."""
    found: list[Trial] = []
    for place in range(number):
        ended: Status = "failed" if place % 5 == 4 else "passed"
        run = a_run(f"case {place:04}", ended, checks=(must_call("get_order"),))
        said = a_conversation("get_order", prompt=f"Needle {place}.", result=f"r{place}r")
        found.append((run, said))
    return found


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take few cases for many."""
    monkeypatch.setattr(overview, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(overview, "FIRST", 4)
    monkeypatch.setattr(overview, "BLOCK", 5)


@pytest.mark.usefixtures("large")
def test_the_first_block_has_the_most_urgent_rows_and_the_others_follow_in_blocks(
    tmp_path: Path,
) -> None:
    blocks = blocks_of(written(a_log(tmp_path, trials(12)), "html"))
    grid = blocks["overview"]["grid"]
    assert [(cell["case"], cell["place"]) for cell in grid["cells"]] == [
        ("case 0000", 0), ("case 0001", 1), ("case 0004", 4), ("case 0009", 9),
    ]  # fmt: skip
    assert grid["blocks"] == 3
    others = [cell for number in range(3) for cell in blocks[f"cells-{number}"]]
    assert [cell["case"] for cell in others] == [f"case {place:04}" for place in range(12)]
    assert others[4] | {"place": 4} == grid["cells"][2]


def test_a_page_that_a_browser_would_not_open_leaves_conversations_out_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_report, "MOST_BYTES", 0)
    blocks = blocks_of(written(a_log(tmp_path, trials(3)), "html"))
    assert blocks["left-out"]["from"] == 0
    assert "case-data-0" not in blocks
    assert len(blocks["overview"]["grid"]["cells"]) == 3


def shows(browser: Browser, count: str) -> bool:
    return bool(browser.run(SHOWN) == count)


@pytest.mark.slow
@needs_browser
def test_what_was_left_out_is_told_where_it_is_looked_for(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_report, "MOST_BYTES", 0)
    browser.open(page_of(a_log(tmp_path, trials(3))) + "#case-2")
    browser.until(lambda: "are left out" in browser.run(TEXT, ".trace-content"))
    assert "conversations from case 1 on are left out" in browser.run(TEXT, "#summary .notice")
    browser.run(SET, "#search", "value", "needle 1")
    browser.until(lambda: browser.run(NAMES) == ["case 0001"])
    browser.run(SET, "#search", "value", "r1r")
    browser.until(lambda: browser.run(SHOWN) == "0 tests of 3")
    assert browser.complaints() == []


@needs_browser
@pytest.mark.usefixtures("large")
def test_a_large_run_is_unpacked_behind_its_first_rows(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(a_log(tmp_path, trials(12))) + "#case-12")
    browser.until(partial(shows, browser, "12 tests"))
    browser.until(lambda: "Needle 11." in browser.run(TEXT, ".trace-content"))
    assert "case 0011" in browser.run(TEXT, "#trace-title")
    assert browser.complaints() == []


@pytest.mark.slow
@needs_browser
def test_a_large_run_is_searched_pack_by_pack_and_its_charts_have_a_bound(
    tmp_path: Path, browser: Browser
) -> None:
    number = overview.MOST_AT_ONCE * 2 + 2
    log = a_log(tmp_path, trials(number))
    browser.open(page_of(log) + f"#case-{number}")
    browser.until(lambda: browser.run(SHOWN) == f"{number:,} tests")
    browser.until(lambda: f"case {number - 1:04}" in browser.run(TEXT, "#trace-title"))
    browser.until(lambda: f"Needle {number - 1}." in browser.run(TEXT, ".trace-content"))
    assert browser.run(BARS) <= 1000
    for words, left in (("r7r", ["case 0007"]), ('"r7 r"', []), ("needle 8. r8r", ["case 0008"])):
        browser.run(SET, "#search", "value", words)
        count = f"{len(left)} test{'' if len(left) == 1 else 's'} of {number:,}"
        browser.until(partial(shows, browser, count))
        assert browser.run(NAMES) == left
    assert browser.complaints() == []
