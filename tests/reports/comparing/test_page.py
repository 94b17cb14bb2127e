"""The page of a comparison in a real browser, from a file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.reports.comparing.contrasts import compare_logs
from harness.reports.comparing.page import write_comparison_html
from harness.runlog import Footer, Header, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.types import Tool, ToolCall, ToolList, Transcript, TrialResult
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.logs import a_run, a_transcript
from tests.reports.packs import blocks_of
from tests.support import entrants_of

TEXT = "return document.querySelector(arguments[0]).textContent"
EVIL = "<img src=x onerror='window.pwned=1'></script><script>window.pwned=1</script>"
FIND = Tool(
    name="find", description="Find the orders of one customer, the newest first.", input_schema={}
)
VAGUE = replace(FIND, description="Find the things of one customer.")


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(tool=tool, arguments=arguments, outcome="ok", reply=1, text=f"from {tool}")


def said(answer: str, *calls: ToolCall, tools: str = "") -> Transcript:
    return replace(a_transcript(answer), tool_calls=calls, tools_digest=tools)


def a_log(folder: Path, tool: Tool, *trials: tuple[TrialResult, Transcript]) -> RunLog:
    path = folder / "log.jsonl"
    tools = ToolList(tools=(tool,), digest=f"d-{tool.description}")
    with LogWriter(path) as writer:
        writer.append(
            Header(
                run_id=folder.name,
                started_at="2026-01-01T00:00:00Z",
                harness_version="1",
                planned=len(trials),
                suites={"shop": {"cases": {run.case.name: "d" for run, _ in trials}}},
                models={run.model: {} for run, _ in trials},
                entrants=entrants_of((run.model for run, _ in trials)),
            )
        )
        writer.append(ToolsLine(server="s", tools=tools))
        for run, transcript in trials:
            told = replace(transcript, tools_digest=tools.digest)
            writer.append(TrialLine(run=run, transcript=told))
        writer.append(Footer(finished_at="2026-01-01T00:00:09Z", elapsed_s=9.0))
    return read_log(path)


@pytest.fixture
def logs(tmp_path: Path) -> list[RunLog]:
    before = a_log(
        tmp_path / "20260101T000000Z-a",
        FIND,
        (a_run("same"), said("Fine.")),
        (
            a_run("lost"),
            said(
                "The order 7 left the house on Monday.",
                call("find", customer={"id": 7, "city": "Rome"}),
                call("show", id=1),
            ),
        ),
    )
    after = a_log(
        tmp_path / "20260102T000000Z-b",
        VAGUE,
        (a_run("same"), said("Fine.")),
        (
            replace(a_run("lost", "failed"), events_digest="sha256:1"),
            said(
                f"The order 8 left the house on Tuesday. {EVIL}",
                call("look"),
                call("find", customer={"id": 8, "city": "Rome"}),
            ),
        ),
    )
    return [before, after]


def page_of(logs: list[RunLog]) -> Path:
    path = logs[0].path.with_name("compared.html")
    with path.open("w", encoding="utf-8") as stream:
        write_comparison_html(compare_logs(logs), stream)
    return path


def test_the_page_is_one_file_under_a_policy_without_network_and_inline_code(
    logs: list[RunLog],
) -> None:
    text = page_of(logs).read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    for way in ("innerHTML", "insertAdjacentHTML", "document.write", "eval(", "import "):
        assert way not in re.findall(r'"module">(.*?)</script>', text, re.DOTALL)[0]
    assert EVIL not in text
    assert set(blocks_of(text)) == {"overview", "case-0-0", "case-0-1"}


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_a_case_shows_both_answers_and_calls_with_what_differs(
    logs: list[RunLog], browser: Browser
) -> None:
    browser.open(page_of(logs).as_uri())
    lines = "return [...document.querySelectorAll('#list > li')].map((one) => one.dataset.change)"
    assert browser.run(lines) == ["worse", "same"]
    browser.run("document.querySelector('#list details').open = true")
    browser.until(lambda: browser.run("return document.querySelector('.calls') !== null"))
    marked = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    assert browser.run(marked, "#list .both > .pair:last-child del") == ["7", "Monday"]
    assert browser.run(marked, "#list .both > .pair:last-child ins")[:2] == [
        "8", f"Tuesday. {EVIL}"[:7],
    ]  # fmt: skip
    kinds = "return [...document.querySelectorAll('.calls > li')].map((one) => one.className)"
    assert browser.run(kinds) == ["only-after", "changed", "only-before"]
    assert browser.run(marked, ".calls .changed del, .calls .changed ins") == ["7", "8"]
    rows = browser.run(marked, ".calls .changed tbody tr")
    assert rows == ["customer.id78", 'customer.city"Rome""Rome"']
    assert browser.run("return window.pwned") is None
    assert browser.complaints() == []


PAPER = """
addEventListener("beforeprint", () => {
  window.paper = ["tools", "list"].map((id) => document.getElementById(id).innerText).join();
});
"""
"""Keeps what is to be read at the moment of printing; it is added after the page's own."""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_paper_gets_every_case_opened_and_the_screen_is_as_it_was(
    logs: list[RunLog], browser: Browser
) -> None:
    address = page_of(logs).as_uri()
    browser.open(address)
    browser.run(PAPER)
    answers = ("The order 7 left", "Fine.", "from find", "description")

    def printed() -> bool:
        browser.driver.execute_cdp_cmd("Page.printToPDF", {})
        paper = browser.run("return window.paper")
        return all(answer in paper for answer in answers)

    browser.until(printed)  # what is on paper is read while nothing else is to be done
    assert browser.run("return document.querySelectorAll('#list details[open]').length") == 0
    assert browser.run("return location.href") == address
    assert browser.complaints() == []


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_the_tools_that_differ_are_shown_word_by_word_and_a_case_has_an_address(
    logs: list[RunLog], browser: Browser
) -> None:
    address = page_of(logs).as_uri()
    browser.open(f"{address}#suite=shop&case=lost")
    browser.until(lambda: browser.run("return document.querySelector('.calls') !== null"))
    assert "find changed: description" in browser.run(TEXT, "#tool-list summary")
    assert browser.run(TEXT, "#tool-list del") == "orders"
    assert browser.run(TEXT, "#tool-list ins") == "things"
    assert "McNemar" in browser.run(TEXT, "#statistics")
    chart = browser.run("return document.querySelector('.effects svg').getAttribute('aria-label')")
    assert "all cases: −50 points" in chart
    # Only what behaved differently.
    browser.run("document.getElementById('unlike').click()")
    assert browser.run("return document.querySelectorAll('#list > li').length") == 1
